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
  const shell = await findOnPath("bash", env) ?? await findOnPath("sh", env) ??
    (isWindows ? undefined : "/bin/sh");
  if (shell === undefined) {
    throw new Error(
      'Cannot run a command: there is neither "bash" nor "sh" on the PATH; install Git for Windows',
    );
  }
  if (isWindows) return { program: shell, args: ["-c", command] };
  return { program: "/bin/sh", args: ["-c", ONE_OUTPUT, "sh", shell, "-c", command] };
}
