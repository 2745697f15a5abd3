/**
 * What is in a working tree besides its commit.
 *
 * @module
 */
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { answerOf, type GitHere, outputOf, records } from "./git_calls.ts";
import type { Checkout } from "./git_checkout.ts";

/** Whatever a configuration says: what was changed is to be found, and nothing is taken on trust. */
const STRICT = [
  "-c",
  "core.untrackedCache=false",
  "-c",
  "core.trustctime=true",
  "-c",
  "core.checkStat=default",
];

/**
 * Lists what differs from the commit: changed, deleted and untracked files, of submodules too. Ignored
 * files do not count, and a directory of untracked files counts as one.
 */
export async function changedPaths(git: GitHere): Promise<string[]> {
  const text = await outputOf(
    git,
    ...STRICT,
    "status",
    "--porcelain=v1",
    "-z",
    "--untracked-files=normal",
    "--ignore-submodules=none",
    "--no-renames",
  );
  return records(text).map((record) => record.slice(3));
}

/** What a merge and its like leave in the repository while they are under way. */
const OPERATIONS: readonly (readonly [string, string])[] = [
  ["MERGE_HEAD", "a merge"],
  ["rebase-merge", "a rebase"],
  ["rebase-apply", "a rebase"],
  ["CHERRY_PICK_HEAD", "a cherry-pick"],
  ["REVERT_HEAD", "a revert"],
  ["sequencer", "a series of cherry-picks or reverts"],
];

/** Returns what is under way in a checkout: `a merge`; `undefined` for nothing. */
export async function operationIn(checkout: Checkout): Promise<string | undefined> {
  for (const [name, words] of OPERATIONS) {
    if (await exists(join(checkout.gitDir, name))) return words;
  }
  return undefined;
}

/**
 * Returns the name of a filter that the repository's own configuration defines: a command that git would
 * run for files it writes or compares. Those of the user's configuration are the user's.
 */
export async function ownFilter(git: GitHere): Promise<string | undefined> {
  const pattern = "^filter\\..*\\.(clean|smudge|process)$";
  const text = await answerOf(
    git,
    "config",
    "--show-scope",
    "--null",
    "--name-only",
    "--get-regexp",
    pattern,
  );
  const fields = records(text ?? "");
  const at = fields.findIndex((field, index) =>
    index % 2 === 0 && (field === "local" || field === "worktree")
  );
  return at < 0 ? undefined : fields[at + 1]?.replace(/^filter\./u, "").replace(/\.[^.]*$/u, "");
}

/** What the index says of files that `git status` does not look at. */
export interface IndexFindings {
  /** Submodules whose directories hold something. */
  readonly submodules: readonly string[];
  /** Files that git was told to overlook and that may so have been changed. */
  readonly overlooked: readonly string[];
}

/** Reads the index of the checkout whose top git runs in. */
export async function indexFindings(git: GitHere, checkout: Checkout): Promise<IndexFindings> {
  const submodules: string[] = [];
  const overlooked: string[] = [];
  for (const record of records(await outputOf(git, "ls-files", "-v", "--stage", "-z"))) {
    const [, tag = "", mode, path = ""] = /^(.) (\d+) [^\t]*\t([\s\S]*)$/u.exec(record) ?? [];
    const file = join(checkout.top, path);
    if (mode === "160000" && await holdsSomething(file)) submodules.push(path);
    // Lower case: taken as unchanged. S: not in the working tree, as in a sparse checkout.
    if (tag === "S" || tag === "s") {
      if (path.includes("\ufffd") || await exists(file)) overlooked.push(path);
    } else if (tag === "" || tag !== tag.toUpperCase()) overlooked.push(path);
  }
  return { submodules, overlooked };
}

/** Says whether there is anything at a path, a broken link too; what cannot be looked at is there. */
export async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    return code !== "ENOENT" && code !== "ENOTDIR";
  }
}

async function holdsSomething(directory: string): Promise<boolean> {
  try {
    return (await readdir(directory)).length > 0;
  } catch (error) {
    return (error as { readonly code?: unknown }).code !== "ENOENT";
  }
}
