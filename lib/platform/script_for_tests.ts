/**
 * Programs for the tests of this folder, run in a process of their own on the runtime in use.
 *
 * @module
 */
import {
  type ChildProcess,
  type ChildProcessByStdio,
  spawn,
  type StdioOptions,
} from "node:child_process";
import process from "node:process";
import type { Readable } from "node:stream";
import { selfCommand } from "./runtime.ts";

/** Returns the command that runs the source of a module. */
export function scriptCommand(source: string): [string, ...string[]] {
  const [exec] = selfCommand();
  return "Deno" in globalThis
    ? [exec, "eval", "--no-config", source]
    : [exec, "--input-type=module", "-e", source];
}

/** Starts the source of a module; its stdout is read by the caller. */
export function runScript(
  source: string,
  options: {
    readonly env?: Readonly<Record<string, string>>;
    readonly stderr?: "inherit" | "pipe";
  } = {},
): ChildProcessByStdio<null, Readable, Readable | null> {
  const [exec, ...args] = scriptCommand(source);
  const stdio: StdioOptions = ["ignore", "pipe", options.stderr ?? "inherit"];
  return spawn(exec, args, {
    stdio,
    env: { ...process.env, ...options.env },
  }) as ChildProcessByStdio<null, Readable, Readable | null>;
}

/** Returns the URL of a module of this folder as a literal for a script. */
export function moduleLiteral(name: string): string {
  return JSON.stringify(new URL(name, import.meta.url).href);
}

/**
 * Sends a signal to a process. `ChildProcess.kill()` will not do: on Deno a process that catches the
 * signal and exits with a status is then reported as killed.
 */
export function send(started: ChildProcess, signal: NodeJS.Signals): void {
  process.kill(started.pid ?? 0, signal);
}
