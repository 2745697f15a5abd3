/**
 * The checkout of a repository that a directory lies in.
 *
 * @module
 */
import { realpath } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { isWithin } from "../base/is_within.ts";
import type { RunGit } from "../platform/git.ts";
import { type GitHere, gitIn, GitRefusal, outputOf, wordsOf } from "./git_calls.ts";

/** A working tree and its repository; all paths are absolute, links resolved. */
export interface Checkout {
  /** The top of the working tree. */
  readonly top: string;
  /** What belongs to this working tree alone: its index, its `HEAD`. */
  readonly gitDir: string;
  /** What all working trees of the repository share. */
  readonly commonDir: string;
  /** The directory that was asked about, relative to the top; empty for the top itself. */
  readonly inside: string;
}

/** Says whether a checkout is a linked worktree, and not the main one. */
export function isLinked(checkout: Checkout): boolean {
  return checkout.gitDir !== checkout.commonDir;
}

/**
 * Finds the checkout of a directory.
 *
 * @throws {GitRefusal} where there is none, or git does not work there.
 * @throws the signal's reason when it is aborted.
 */
export async function findCheckout(
  run: RunGit,
  options: { readonly cwd: string; readonly signal: AbortSignal },
): Promise<Checkout> {
  const cwd = await realPath(options.cwd);
  const git = gitIn(run, { cwd, signal: options.signal });
  const [top, gitDir, commonDir] = await places(git, cwd);
  const checkout = {
    top: await realPath(top),
    gitDir: await realPath(resolve(cwd, gitDir)),
    commonDir: await realPath(resolve(cwd, commonDir)),
  };
  // A repository can say that its working tree is elsewhere.
  if (!isWithin(checkout.top, cwd)) {
    throw new GitRefusal(`the working tree of its repository is "${checkout.top}"`);
  }
  return { ...checkout, inside: relative(checkout.top, cwd) };
}

const PLACES = ["--show-toplevel", "--absolute-git-dir", "--git-common-dir"] as const;

/** A line for each place, unless a path holds an end of line: then a run for each. */
async function places(git: GitHere, cwd: string): Promise<[string, string, string]> {
  const result = await git("rev-parse", ...PLACES);
  if (result.code !== 0) {
    if (/not a git repository/u.test(result.stderr)) {
      throw new GitRefusal(`"${cwd}" is not in a git repository`);
    }
    if (/must be run in a work tree/u.test(result.stderr)) {
      throw new GitRefusal(`"${cwd}" is in no working tree of its git repository`);
    }
    throw new GitRefusal(wordsOf(result));
  }
  const lines = result.stdout.replace(/\n$/u, "").split("\n");
  const [top, gitDir, commonDir] = lines.length === PLACES.length ? lines : await Promise.all(
    PLACES.map(async (place) => (await outputOf(git, "rev-parse", place)).replace(/\n$/u, "")),
  );
  if (!top || !gitDir || !commonDir) throw new GitRefusal("git does not say where its tree is");
  return [top, gitDir, commonDir];
}

async function realPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    throw new GitRefusal(`there is no "${path}"`, { cause: error });
  }
}
