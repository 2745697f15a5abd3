/**
 * Which program the tests run, and the environment it runs in.
 *
 * @module
 */
import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { OWN_PERMISSIONS } from "../../lib/platform/own_permissions.ts";

/** The repository's root. */
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** A program and its first arguments. */
export type Program = readonly [string, ...string[]];

/**
 * Returns the mm under test: `MM_TEST_PROGRAM` (a JSON array, for example `["/path/to/mm"]`), else
 * `cli.ts` under the runtime that runs the tests.
 *
 * @throws {Error} when the variable holds something else.
 */
export function programUnderTest(): Program {
  const chosen = process.env.MM_TEST_PROGRAM;
  if (chosen === undefined || chosen === "") {
    // With what the executable may do and no more, so that a test finds an access that is not listed.
    // The packages are there: a start that looks after them waits for every other one that does.
    const flags = [...OWN_PERMISSIONS, "--no-check", "--node-modules-dir=manual"];
    return [process.execPath, "run", ...flags, join(ROOT, "cli.ts")];
  }
  const parsed: unknown = JSON.parse(chosen);
  if (!Array.isArray(parsed) || parsed.length === 0 || parsed.some((a) => typeof a !== "string")) {
    throw new Error(`MM_TEST_PROGRAM is "${chosen}"; set it to a JSON array of strings`);
  }
  return parsed as unknown as Program;
}

/** Whether the mm under test is the sources, run by the runtime of the tests. */
export function runsFromSource(): boolean {
  return (process.env.MM_TEST_PROGRAM ?? "") === "";
}

/** What a program needs of the machine and a test may not change: nothing about models or mm. */
const KEPT = [
  "PATH",
  "LANG",
  "LC_ALL",
  "TZ",
  "SystemRoot",
  "SYSTEMROOT",
  "DENO_TLS_CA_STORE",
  "LD_LIBRARY_PATH",
];

/**
 * Returns the environment of a program under test: a scrubbed copy of this one, with the runtime's
 * own cache, so that an empty home does not make every start compile and download.
 */
export function baseEnvironment(): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of KEPT) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  env.DENO_DIR = process.env.DENO_DIR ?? defaultDenoDir();
  env.DENO_NO_UPDATE_CHECK = "1";
  env.NO_COLOR = "1";
  return env;
}

function defaultDenoDir(): string {
  const home = homedir();
  switch (process.platform) {
    case "darwin":
      return join(home, "Library", "Caches", "deno");
    case "win32":
      return join(process.env.LOCALAPPDATA ?? home, "deno");
    default:
      return join(process.env.XDG_CACHE_HOME ?? join(home, ".cache"), "deno");
  }
}
