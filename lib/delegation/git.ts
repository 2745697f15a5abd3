/**
 * What delegation needs of git: a program that is run with arguments, never through a shell.
 *
 * @module
 */

/** How a run of git ended. */
export interface GitResult {
  /** The exit status; `null` where it was ended by a signal, by the time limit, or never started. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs git in a directory. Never rejects for how git ends; a git that is missing is `code: null`.
 *
 * @throws the signal's reason when it is aborted, after git is gone.
 */
export type RunGit = (
  args: readonly string[],
  options: { readonly cwd: string; readonly signal: AbortSignal },
) => Promise<GitResult>;
