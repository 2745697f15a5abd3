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

/** Options of {@linkcode compile}. */
export interface CompileOptions {
  /** The program, absolute. */
  readonly entry: string;
  /** Where its bundle goes, absolute; emptied first. */
  readonly folder: string;
  /** The executable, absolute. */
  readonly executable: string;
  /** What Deno calls the platform, for example `aarch64-apple-darwin`. @default {this one} */
  readonly target?: string;
}

/**
 * Bundles a program and compiles the bundle.
 *
 * @throws {Error} when it cannot be bundled or compiled, with what to do.
 */
export async function compile(options: CompileOptions): Promise<void> {
  const denort = process.env.DENORT_BIN;
  if (denort !== undefined && !existsSync(denort)) {
    throw new Error(`Cannot compile: DENORT_BIN names "${denort}", which does not exist`);
  }
  await bundle(options.entry, options.folder);
  const status = await runCommand([
    ...compiler(),
    "compile",
    ...OWN_PERMISSIONS,
    "--no-check",
    ...(options.target === undefined ? [] : ["--target", options.target]),
    ...UNSTABLE.map((feature) => `--unstable-${feature}`),
    "--include",
    CHUNKS,
    "--output",
    options.executable,
    MAIN,
  ], { cwd: options.folder });
  if (status === 0) return;
  throw new Error(
    denort === undefined
      ? `Cannot compile: deno compile ended with status ${status}. It needs the runtime denort ` +
        `${DENO_VERSION}: let it reach dl.deno.land, or set DENORT_BIN to a denort of that version`
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
