/**
 * Running a command for a script: its output goes where the script's goes.
 *
 * @module
 */
import { spawn } from "node:child_process";
import process from "node:process";
import { ROOT } from "./repository.ts";

/** Options of {@linkcode runCommand}. */
export interface RunCommandOptions {
  /** @default {the repository's root} */
  readonly cwd?: string;
  /** Variables besides this process's. */
  readonly env?: Readonly<Record<string, string>>;
  /** Variables of this process that the command does not get. @default {none} */
  readonly without?: readonly string[];
  /** Milliseconds after which the command is killed. @default {no limit} */
  readonly timeoutMs?: number;
}

/**
 * Runs a program to its end and returns its exit status; 128 and more stands for a signal.
 *
 * @throws {Error} when it cannot be started.
 */
export function runCommand(
  command: readonly [string, ...string[]],
  options: RunCommandOptions = {},
): Promise<number> {
  const [program, ...args] = command;
  const env: NodeJS.ProcessEnv = { ...process.env, ...options.env };
  for (const name of options.without ?? []) delete env[name];
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: options.cwd ?? ROOT,
      env,
      stdio: ["ignore", "inherit", "inherit"],
      ...(options.timeoutMs === undefined
        ? {}
        : { timeout: options.timeoutMs, killSignal: "SIGKILL" as const }),
    });
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 128));
  });
}
