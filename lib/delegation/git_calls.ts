/**
 * Runs of git in one directory, and the refusal that comes of one that fails.
 *
 * @module
 */
import { oneLine } from "../base/cut.ts";
import type { GitResult, RunGit } from "./git.ts";

/** UTF-16 units of git's own words that are passed on. */
const MAX_WORDS = 400;

/** Why something is not done with git: a part of a sentence, without a period. */
export class GitRefusal extends Error {
  /** Creates it from the words. */
  constructor(words: string, options?: ErrorOptions) {
    super(words, options);
    this.name = "GitRefusal";
  }
}

/** Git in one directory, for one caller. */
export type GitHere = (...args: string[]) => Promise<GitResult>;

/** Returns git for a directory. */
export function gitIn(
  run: RunGit,
  options: { readonly cwd: string; readonly signal: AbortSignal },
): GitHere {
  return (...args) => run(args, options);
}

/** Returns the words of a run that failed, git's own in quotation marks. */
export function wordsOf(result: GitResult): string {
  if (result.code === null) return result.stderr;
  const words = oneLine(result.stderr.replace(/^(?:fatal|error): /gmu, ""), MAX_WORDS);
  return words === "" ? `git ended with status ${result.code}` : `git says: ${words}`;
}

/**
 * Returns the output of a run of git.
 *
 * @throws {GitRefusal} with git's words when it fails.
 */
export async function outputOf(git: GitHere, ...args: string[]): Promise<string> {
  const result = await git(...args);
  if (result.code !== 0) throw new GitRefusal(wordsOf(result));
  return result.stdout;
}

/**
 * Returns the output of a run of git without the end of its line, or `undefined` where git answers by
 * status 1 that there is nothing.
 *
 * @throws {GitRefusal} with git's words when it fails otherwise.
 */
export async function answerOf(git: GitHere, ...args: string[]): Promise<string | undefined> {
  const result = await git(...args);
  if (result.code === 1) return undefined;
  if (result.code !== 0) throw new GitRefusal(wordsOf(result));
  return result.stdout.replace(/\n$/u, "");
}

/** Splits what git writes with `-z`. */
export function records(text: string): string[] {
  return text.split("\0").slice(0, -1);
}
