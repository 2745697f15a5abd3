/**
 * The shell that runs command lines.
 *
 * @module
 */
import { findOnPath } from "./spawn_group.ts";
import { isWindows } from "./runtime.ts";

/** A program with its arguments. */
export interface ShellCall {
  readonly program: string;
  readonly args: readonly string[];
}

/**
 * Both outputs become one pipe, so that they arrive in the order they were written; descriptors
 * that mm inherited from its own caller are not passed on.
 */
const ONE_OUTPUT = 'exec "$@" 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-';

/**
 * Returns how to run a command line: with the `bash` of the environment's `PATH`, else with `sh`.
 *
 * @throws {Error} when there is neither.
 */
export async function shellCall(
  command: string,
  env: Readonly<Record<string, string>>,
): Promise<ShellCall> {
  const bash = await findOnPath("bash", env);
  const shell = bash ?? await findOnPath("sh", env) ?? (isWindows ? undefined : "/bin/sh");
  if (shell === undefined) {
    throw new Error(
      'Cannot run a command: there is neither "bash" nor "sh" on the PATH; install Git for Windows',
    );
  }
  // Where mm was started over ssh, bash would read ~/.bashrc before each command.
  const args = [...(bash === undefined ? [] : ["--norc"]), "-c", command];
  if (isWindows) return { program: shell, args };
  return { program: "/bin/sh", args: ["-c", ONE_OUTPUT, "sh", shell, ...args] };
}
