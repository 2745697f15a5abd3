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

/** Descriptors that mm inherited from its own caller are not passed on. */
const TWO_OUTPUTS = 'exec "$@" 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-';

/** Both outputs become one pipe, so that they arrive in the order they were written. */
const ONE_OUTPUT = `${TWO_OUTPUTS} 2>&1`;

/** Options of {@linkcode shellCall}. */
export interface ShellCallOptions {
  /** Keeps stdout and stderr apart. @default {false} */
  readonly apart?: boolean;
}

/**
 * Returns how to run a command line: with the `bash` of the environment's `PATH`, else with `sh`. Both
 * outputs are one, unless they are wanted apart.
 *
 * @throws {Error} when there is neither.
 */
export async function shellCall(
  command: string,
  env: Readonly<Record<string, string>>,
  options: ShellCallOptions = {},
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
  const outputs = options.apart === true ? TWO_OUTPUTS : ONE_OUTPUT;
  return { program: "/bin/sh", args: ["-c", outputs, "sh", shell, ...args] };
}
