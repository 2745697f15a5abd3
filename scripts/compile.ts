/**
 * `deno task compile [entry]`: bundles `cli.ts` and compiles the bundle to the executable `build/mm`.
 *
 * `deno compile` appends the program to a runtime named denort, which it downloads; where it cannot,
 * `DENORT_BIN` names one (of exactly the version below). `MM_DENO_COMPILE` (a JSON array) is another
 * command than `npx -y deno@<version>`.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { OWN_PERMISSIONS } from "../lib/platform/own_permissions.ts";
import { bundle, CHUNKS, MAIN, UNSTABLE } from "./bundle.ts";
import { ROOT } from "./checks/repository.ts";
import { runCommand } from "./checks/run_command.ts";

/** The version of Deno that executables are made with. */
export const DENO_VERSION = "2.7.11";

/** The executable of mm, absolute. */
export const EXECUTABLE: string = join(
  ROOT,
  "build",
  process.platform === "win32" ? "mm.exe" : "mm",
);

/**
 * How V8 works in the executable; docs/explanation/performance.md has the figures of each.
 *
 * Code is optimized on the main thread, since each thread that compiles keeps memory of its own
 * afterwards; and the last stage, which takes the most, comes 67 times later than usual: mm mostly
 * waits, and what it does with a stream is done before that stage pays.
 */
const V8_FLAGS: readonly string[] = [
  "--optimize-for-size",
  "--no-concurrent-recompilation",
  "--invocation-count-for-turbofan=200000",
];

/** Options of {@linkcode compileBundle}. */
export interface CompileBundleOptions {
  /** The folder of the bundle, absolute. */
  readonly folder: string;
  /** The executable, absolute. */
  readonly executable: string;
  /** What Deno calls the platform, for example `aarch64-apple-darwin`. @default {this one} */
  readonly target?: string;
}

/** Options of {@linkcode compile}. */
export interface CompileOptions extends CompileBundleOptions {
  /** The program, absolute. */
  readonly entry: string;
}

/**
 * Bundles a program into `folder`, which is emptied first, and compiles the bundle.
 *
 * @throws {Error} when it cannot be bundled or compiled, with what to do.
 */
export async function compile(options: CompileOptions): Promise<void> {
  await bundle(options.entry, options.folder);
  await compileBundle(options);
}

/**
 * Compiles a bundle. `DENORT_BIN` is the runtime of this platform, so it is not used for another.
 *
 * @throws {Error} when it cannot be compiled, with what to do.
 */
export async function compileBundle(options: CompileBundleOptions): Promise<void> {
  const { folder, executable, target } = options;
  const denort = target === undefined ? process.env.DENORT_BIN : undefined;
  if (denort !== undefined && !existsSync(denort)) {
    throw new Error(`Cannot compile: DENORT_BIN names "${denort}", which does not exist`);
  }
  const status = await runCommand([
    ...compiler(),
    "compile",
    ...OWN_PERMISSIONS,
    "--no-check",
    // Deno would keep compiled code in a file of the shared directory for temporary files, under a name
    // that anybody can guess, and run what it finds there. mm is not faster with it.
    "--no-code-cache",
    `--v8-flags=${V8_FLAGS.join(",")}`,
    ...(target === undefined ? [] : ["--target", target]),
    ...UNSTABLE.map((feature) => `--unstable-${feature}`),
    "--include",
    CHUNKS,
    "--output",
    executable,
    MAIN,
  ], { cwd: folder, ...(target === undefined ? {} : { without: ["DENORT_BIN"] }) });
  if (status === 0) return;
  throw new Error(
    denort === undefined
      ? `Cannot compile: deno compile ended with status ${status}. It needs the runtime denort ` +
        `${DENO_VERSION} for ${target ?? "this platform"}: let it be downloaded` +
        (target === undefined ? ", or set DENORT_BIN to a denort of that version" : "")
      : `Cannot compile: deno compile ended with status ${status} (DENORT_BIN is "${denort}")`,
  );
}

function compiler(): [string, ...string[]] {
  const chosen = process.env.MM_DENO_COMPILE;
  if (chosen === undefined || chosen === "") return ["npx", "-y", `deno@${DENO_VERSION}`];
  const parsed: unknown = JSON.parse(chosen);
  if (!Array.isArray(parsed) || parsed.length === 0) {
    throw new Error(`MM_DENO_COMPILE is "${chosen}"; set it to a JSON array: program, argument, …`);
  }
  return parsed as [string, ...string[]];
}

if (import.meta.main) {
  try {
    await compile({
      entry: resolve(process.argv[2] ?? join(ROOT, "cli.ts")),
      folder: join(ROOT, "build", "bundle"),
      executable: EXECUTABLE,
    });
    process.stdout.write(`${EXECUTABLE}\n`);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
