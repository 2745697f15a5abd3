/**
 * Starting a process in a group of its own, with errors that say what is wrong.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import { access, constants, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import type { ProcessEnd } from "./process.ts";
import { isWindows } from "./runtime.ts";

/** Options of {@linkcode spawnGroup}. */
export interface SpawnGroupOptions {
  readonly program: string;
  readonly args: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** `ignore` is an empty input (stdin) or thrown away (the others). */
  readonly stdio: readonly ["ignore" | "pipe", "pipe", "ignore" | "pipe"];
}

/** A process that leads a group of its own. */
export interface GroupLeader {
  readonly process: ChildProcess;
  /** The process and its group. */
  readonly pid: number;
  /** Settles when the process itself ended, whoever still holds its pipes; never rejects. */
  readonly exited: Promise<ProcessEnd>;
}

/**
 * Starts a process in a session and group of its own, without a controlling terminal.
 *
 * @throws {Error} when it cannot be started, with the program and the reason.
 */
export async function spawnGroup(options: SpawnGroupOptions): Promise<GroupLeader> {
  let started: ChildProcess;
  try {
    started = spawn(options.program, [...options.args], {
      cwd: options.cwd,
      env: { ...options.env },
      stdio: [...options.stdio],
      detached: !isWindows, // On Windows it would open a console window.
      windowsHide: true,
    });
  } catch (error) {
    throw await startError(options, error);
  }
  // Both listeners stand before the first await: a process can end before it is looked at.
  const exited = new Promise<ProcessEnd>((resolve) => {
    started.once("exit", (code, signal) => resolve({ code, signal }));
  });
  const failure = await new Promise<unknown>((resolve) => {
    started.once("spawn", () => resolve(undefined));
    started.once("error", resolve);
  });
  if (failure !== undefined || started.pid === undefined) throw await startError(options, failure);
  // Later errors (a signal that could not be sent) change nothing: the exit still comes.
  started.on("error", () => {});
  return { process: started, pid: started.pid, exited };
}

/**
 * Returns the path of a program on the `PATH` of `env`, or `undefined`. Relative entries of the
 * `PATH` are skipped: what lies in a project directory must not stand in for a system's program.
 */
export async function findOnPath(
  name: string,
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const names = isWindows ? [`${name}.exe`] : [name];
  for (const folder of (env["PATH"] ?? env["Path"] ?? "").split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    for (const file of names) {
      const path = join(folder, file);
      try {
        await access(path, constants.X_OK);
        if ((await stat(path)).isFile()) return path;
      } catch {
        continue;
      }
    }
  }
  return undefined;
}

async function startError(options: SpawnGroupOptions, cause: unknown): Promise<Error> {
  const what = `Cannot start "${options.program}"`;
  const where = await cwdProblem(options.cwd);
  if (where !== undefined) {
    return new Error(`${what} in "${options.cwd}": ${where}`, { cause });
  }
  return new Error(`${what}: ${await reason(options, cause)}`, { cause });
}

/** The system reports a missing working directory as if the program were missing. */
async function cwdProblem(cwd: string): Promise<string | undefined> {
  try {
    if (!(await stat(cwd)).isDirectory()) return "it is not a directory";
    await access(cwd, constants.X_OK);
    return undefined;
  } catch (error) {
    return codeOf(error) === "ENOENT"
      ? "there is no such directory"
      : "the directory cannot be entered";
  }
}

async function reason(options: SpawnGroupOptions, cause: unknown): Promise<string> {
  const code = codeOf(cause);
  switch (code) {
    case "ENOENT":
      if (!/[\\/]/u.test(options.program)) return "there is no such program on the PATH (ENOENT)";
      return await exists(options.program)
        ? "the interpreter that its first line names does not exist (ENOENT)"
        : "there is no such file (ENOENT)";
    case "EACCES":
    case "EPERM":
      return `it may not be executed (${code})`;
    case "ENOEXEC":
      return "it is no program that this system can execute (ENOEXEC)";
    case "E2BIG":
      return "its arguments and environment are larger than the system takes (E2BIG)";
    case "EAGAIN":
    case "EMFILE":
    case "ENFILE":
    case "ENOMEM":
      return `the system is out of processes, open files or memory (${code})`;
    case "ERR_INVALID_ARG_VALUE":
      return "an argument or a variable of the environment holds a NUL character";
    default:
      return cause instanceof Error ? cause.message : String(cause);
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    return false;
  }
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | undefined)?.code;
}
