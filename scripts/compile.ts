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
import { BUNDLE, bundle, CHUNKS, UNSTABLE } from "./bundle.ts";
import { ROOT } from "./checks/repository.ts";
import { runCommand } from "./checks/run_command.ts";

/** The version of Deno that executables are made with. */
const DENO_VERSION = "2.7.11";

/** The executable. */
const EXECUTABLE = join(ROOT, "build", process.platform === "win32" ? "mm.exe" : "mm");

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

function compiler(): [string, ...string[]] {
  const chosen = process.env.MM_DENO_COMPILE;
  if (chosen !== undefined && chosen !== "") {
    const parsed: unknown = JSON.parse(chosen);
    if (!Array.isArray(parsed) || parsed.length === 0) {
      fail(`MM_DENO_COMPILE is "${chosen}"; set it to a JSON array: program, argument, …`);
    }
    return parsed as [string, ...string[]];
  }
  return ["npx", "-y", `deno@${DENO_VERSION}`];
}

const denort = process.env.DENORT_BIN;
if (denort !== undefined && !existsSync(denort)) {
  fail(`Cannot compile: DENORT_BIN names "${denort}", which does not exist`);
}

const entry = resolve(process.argv[2] ?? join(ROOT, "cli.ts"));
await bundle(entry);
const status = await runCommand([
  ...compiler(),
  "compile",
  "-A",
  // Without it, a program that gives up a permission would ask the user on the terminal.
  "--no-prompt",
  "--no-check",
  // A third less memory after a long answer, for a few percent more processor time.
  "--v8-flags=--optimize-for-size",
  ...UNSTABLE.map((feature) => `--unstable-${feature}`),
  "--include",
  join(BUNDLE, "..", CHUNKS),
  "--output",
  EXECUTABLE,
  BUNDLE,
], { cwd: join(BUNDLE, "..") });
if (status !== 0) {
  fail(
    denort === undefined
      ? `Cannot compile: deno compile ended with status ${status}. It needs the runtime denort ` +
        `${DENO_VERSION}: let it reach the download host of Deno, or set DENORT_BIN to a denort of that version`
      : `Cannot compile: deno compile ended with status ${status} (DENORT_BIN is "${denort}")`,
  );
}
process.stdout.write(`${EXECUTABLE}\n`);
