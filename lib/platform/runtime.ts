/**
 * The runtime mm runs on, and how this program is started again.
 *
 * @module
 */
import { existsSync, realpathSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { OWN_PERMISSIONS } from "./own_permissions.ts";

/** How to start this same program again: the executable and the arguments before mm's own. */
export type SelfCommand = readonly [string, ...string[]];

/** Whether this is Windows, which has neither process groups nor signals that can be caught. */
export const isWindows: boolean = process.platform === "win32";

/** What this file reads of Deno's own interface; absent on Node and Bun. */
interface DenoFacts {
  readonly version: { readonly deno: string };
  readonly mainModule: string;
  readonly build: { readonly standalone?: boolean };
  execPath(): string;
}

/** What decides how a program is started again, read from the runtime by {@linkcode selfCommand}. */
export interface SelfFacts {
  readonly execPath: string;
  /** Flags of the runtime before the script; Deno does not tell its own. */
  readonly execArgv: readonly string[];
  /** The script as the runtime names it. */
  readonly script: string | undefined;
  /** Deno only: the URL of the main module, and whether the program was compiled. */
  readonly deno?: { readonly mainModule: string; readonly standalone: boolean };
}

/** Where Bun mounts the files of a compiled program. */
const BUN_FILES = /^(?:\/\$bunfs\/|[A-Z]:\\~BUN\\)/u;

/** What Linux adds to the path of an executable that was replaced while it ran. */
const DELETED = " (deleted)";

/**
 * Returns how to start this same program again, whatever it runs on: compiled, `deno run`, Node
 * or Bun. It does not depend on the working directory.
 */
export function selfCommand(): SelfCommand {
  const deno = denoFacts();
  return selfCommandFrom({
    execPath: deno?.execPath() ?? process.execPath,
    execArgv: process.execArgv,
    script: process.argv[1],
    ...(deno === undefined
      ? {}
      : { deno: { mainModule: deno.mainModule, standalone: deno.build.standalone === true } }),
  });
}

/**
 * Returns the command for given facts; {@linkcode selfCommand} reads them from the runtime.
 *
 * @throws {Error} when the runtime runs no script: a REPL.
 */
export function selfCommandFrom(facts: SelfFacts): SelfCommand {
  const exec = presentExecutable(facts.execPath);
  if (facts.deno !== undefined) {
    if (facts.deno.standalone) return [exec];
    // A fenced child must be refused rather than prompt on a terminal it may have.
    const run = ["run", ...OWN_PERMISSIONS];
    const main = facts.deno.mainModule;
    // process.argv[1] is no usable name for a remote module, so the URL is taken. Whatever
    // deno.json or package.json lies in the child's working directory is not mm's.
    if (!main.startsWith("file:")) return [exec, ...run, "--no-config", main];
    // deno.json is found from the module's own place; through a symlink it would not be.
    return [exec, ...run, realPath(fileURLToPath(main))];
  }
  if (facts.script === undefined) throw new Error("Cannot start mm again: no script is running");
  if (BUN_FILES.test(facts.script)) return [exec];
  // A second debugger on the same port would fail.
  const flags = facts.execArgv.filter((flag) => !flag.startsWith("--inspect"));
  return [exec, ...flags, realPath(facts.script)];
}

/** Returns the runtime and its version as people write it: `deno 2.9.6 (compiled)`, `node 20.20.2`. */
export function runtimeName(): string {
  const deno = denoFacts();
  if (deno !== undefined) {
    return `deno ${deno.version.deno}${deno.build.standalone === true ? " (compiled)" : ""}`;
  }
  const bun = process.versions["bun"];
  return bun === undefined ? `node ${process.versions.node}` : `bun ${bun}`;
}

function denoFacts(): DenoFacts | undefined {
  return (globalThis as { readonly Deno?: DenoFacts }).Deno;
}

/** Undoes the mark of a replaced executable where the new one stands at the same path. */
function presentExecutable(path: string): string {
  if (!path.endsWith(DELETED)) return path;
  const plain = path.slice(0, -DELETED.length);
  return existsSync(plain) ? plain : path;
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
