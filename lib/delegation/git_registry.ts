/**
 * The working trees that a repository knows of.
 *
 * @module
 */
import { readFile, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { RunGit } from "../platform/git.ts";
import { type GitHere, gitIn, GitRefusal, outputOf, records, wordsOf } from "./git_calls.ts";
import { type Checkout, findCheckout } from "./git_checkout.ts";

/** What git ends with where it does not know an option. */
const USAGE = 129;

/** An entry of the list of working trees. */
export interface RegisteredTree {
  /** As git has it: absolute. */
  readonly path: string;
  /** The commit it is at; absent without one. */
  readonly head?: string;
  /** The whole name: `refs/heads/main`; absent where none is checked out. */
  readonly branch?: string;
  /** The first of the list: the main working tree, or the bare repository. */
  readonly main: boolean;
  readonly locked: boolean;
  /** Git considers it gone. */
  readonly prunable: boolean;
}

/**
 * Lists the working trees of the repository, the main one first.
 *
 * @throws {GitRefusal} with git's words when that fails.
 */
export async function listTrees(git: GitHere): Promise<RegisteredTree[]> {
  const result = await git("worktree", "list", "--porcelain", "-z");
  if (result.code === 0) return parseTrees(result.stdout, "\0");
  if (result.code !== USAGE) throw new GitRefusal(wordsOf(result));
  // Before git 2.36; a path with an end of line is then found nowhere.
  return parseTrees(await outputOf(git, "worktree", "list", "--porcelain"), "\n");
}

/** Reads the list; `end` is what ends a line of it. */
export function parseTrees(text: string, end: "\0" | "\n"): RegisteredTree[] {
  return text.split(end + end).flatMap((entry, index) => {
    const lines = end === "\0" ? records(entry + end) : entry.split(end);
    const valueOf = (name: string) =>
      lines.find((line) => line === name || line.startsWith(`${name} `))?.slice(name.length + 1);
    const path = valueOf("worktree");
    if (path === undefined) return [];
    const [head, branch] = [valueOf("HEAD"), valueOf("branch")];
    return [{
      path,
      ...(head === undefined ? {} : { head }),
      ...(branch === undefined ? {} : { branch }),
      main: index === 0,
      locked: valueOf("locked") !== undefined,
      prunable: valueOf("prunable") !== undefined,
    }];
  });
}

/** A linked worktree that is what the registry says. */
export interface LinkedTree {
  readonly entry: RegisteredTree;
  readonly checkout: Checkout;
}

/**
 * Checks that a directory is a linked worktree of a repository: that the repository has it in its list,
 * and that, seen from inside, it is that very entry. A directory that was copied, made anew or belongs to
 * another repository is none. Git runs inside of it only after it was found in the list: in a copy, git
 * would rewrite the entry.
 *
 * @param path absolute, links resolved.
 * @throws {GitRefusal} with the reason where it is none.
 */
export async function linkedTree(
  run: RunGit,
  options: { readonly path: string; readonly home: Checkout; readonly signal: AbortSignal },
): Promise<LinkedTree> {
  const { path, home, signal } = options;
  const entry = await entryOf(await listTrees(gitIn(run, { cwd: home.top, signal })), path);
  if (entry === undefined) throw new GitRefusal("it is no worktree of this repository");
  if (entry.main) throw new GitRefusal("it is the main working tree of this repository");
  if (entry.prunable) throw new GitRefusal("it is no longer the worktree that was made there");
  const checkout = await findCheckout(run, { cwd: path, signal });
  const isEntry = checkout.top === path && checkout.commonDir === home.commonDir &&
    dirname(checkout.gitDir) === join(home.commonDir, "worktrees") &&
    await placeOf(checkout.gitDir) === path;
  if (!isEntry) throw new GitRefusal("it is no longer the worktree that was made there");
  return { entry, checkout };
}

/** Finds an entry by its real path. */
export async function entryOf(
  trees: readonly RegisteredTree[],
  path: string,
): Promise<RegisteredTree | undefined> {
  for (const tree of trees) if (tree.path === path) return tree;
  for (const tree of trees) {
    if (await realpath(tree.path).catch(() => tree.path) === path) return tree;
  }
  return undefined;
}

/** Returns where a linked worktree lies by what the repository has written down of it. */
async function placeOf(gitDir: string): Promise<string | undefined> {
  try {
    const file = resolve(gitDir, (await readFile(join(gitDir, "gitdir"), "utf8")).trimEnd());
    return basename(file) === ".git" ? await realpath(dirname(file)) : undefined;
  } catch {
    return undefined;
  }
}
