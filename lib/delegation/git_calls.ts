/**
 * Runs of git in one directory, and the refusal that comes of one that fails.
 *
 * @module
 */
import { setTimeout as delay } from "node:timers/promises";
import { oneLine } from "../base/cut.ts";
import type { GitResult, RunGit } from "../platform/git.ts";

/** UTF-16 units of git's own words that are passed on. */
const MAX_WORDS = 400;

/** Options of {@linkcode GitRefusal}. */
export interface GitRefusalOptions extends ErrorOptions {
  /** What can be done about it: a part of a sentence, in the imperative. */
  readonly advice?: string;
}

/** Why something is not done with git: a part of a sentence, without a period. */
export class GitRefusal extends Error {
  /** What can be done about it, where there is something. */
  readonly advice: string | undefined;

  /** Creates it from the words. */
  constructor(words: string, options: GitRefusalOptions = {}) {
    super(words, options);
    this.name = "GitRefusal";
    this.advice = options.advice;
  }
}

/** Git in one directory, for one caller. */
export type GitHere = (...args: string[]) => Promise<GitResult>;

/**
 * What git fails with while another git is about to make a worktree of the same repository: it finds the
 * entry half written.
 */
export const HALF_MADE: RegExp = /failed to read .*worktrees.*commondir/u;

/** How often git is run again then, and how long the other one is given each time, in milliseconds. */
const AGAIN = { tries: 10, waitMs: 25 };

/** Returns git for a directory; what it is asked has to be something that can be asked twice. */
export function gitIn(
  run: RunGit,
  options: { readonly cwd: string; readonly signal: AbortSignal },
): GitHere {
  return async (...args) => {
    let result = await run(args, options);
    for (let tried = 0; tried < AGAIN.tries && isHalfMade(result); tried++) {
      await delay(AGAIN.waitMs);
      result = await run(args, options);
    }
    return result;
  };
}

function isHalfMade({ code, stderr }: GitResult): boolean {
  return code !== null && code !== 0 && HALF_MADE.test(stderr);
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
