/**
 * What a worktree holds that would be lost with it.
 *
 * @module
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { RunGit } from "../platform/git.ts";
import { answerOf, type GitHere, gitIn, GitRefusal, outputOf } from "./git_calls.ts";
import type { Checkout } from "./git_checkout.ts";
import { type LinkedTree, linkedTree, listTrees, type RegisteredTree } from "./git_registry.ts";
import { changedPaths, indexFindings, operationIn, ownFilter } from "./git_state.ts";
import { branchOf } from "./worktree_place.ts";

/** Places that the `HEAD` of a worktree was at and that are looked at. */
const MAX_PLACES = 2000;

/** References that a worktree has for itself and that end with it. */
const OWN_REFS: readonly string[] = ["refs/worktree", "refs/bisect", "refs/rewritten"];

const LOCKED = "it is locked";

/** What was found; nothing is lost where both numbers are 0 and there is no doubt. */
export interface Findings {
  /** Changed and untracked files; a directory of untracked files counts as one. */
  readonly changes: number;
  /** Commits that no other branch or tag leads to. */
  readonly commits: number;
  /** What else speaks against removing it: the end of a sentence. */
  readonly doubt?: string | undefined;
  /** Where its branch is; absent where there is none. */
  readonly tip?: string | undefined;
}

/** Options of {@linkcode inspectWorktree}. */
export interface InspectOptions {
  readonly run: RunGit;
  /** The checkout that the worktree was made from. */
  readonly home: Checkout;
  /** The worktree's directory, absolute, links resolved. */
  readonly path: string;
  /** Its name: the last part of its path. */
  readonly name: string;
  /** The commit it began with, where it is known. */
  readonly base?: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * Looks at a worktree.
 *
 * @throws {GitRefusal} where git does not say, or it is no longer the worktree that was made.
 * @throws the signal's reason when it is aborted.
 */
export async function inspectWorktree(options: InspectOptions): Promise<Findings> {
  const { run, path, signal, home, name } = options;
  const { entry, checkout } = await linkedTree(run, options);
  const git = gitIn(run, { cwd: path, signal });
  const origin = gitIn(run, { cwd: home.top, signal });
  // First: what follows may run filters.
  const filter = await ownFilter(git);
  if (filter !== undefined) {
    return { changes: 0, commits: 0, doubt: `the repository now defines the filter "${filter}"` };
  }
  const changes = await changedPaths(git);
  const tip = await tipOf(origin, name);
  const places = [entry.head, tip, ...await pastHeads(git, "HEAD")];
  const commits = await lonelyCommits(origin, places, options.base);
  const doubt = await doubtIn(git, { entry, checkout }) ??
    elsewhere(await listTrees(origin), options);
  return { changes: changes.length, commits, doubt, tip };
}

/**
 * Looks at what is left of a worktree whose directory is gone.
 *
 * @throws {GitRefusal} where git does not say.
 */
export async function inspectGone(options: InspectOptions): Promise<Findings> {
  const { run, home, name, signal, base } = options;
  const origin = gitIn(run, { cwd: home.top, signal });
  const trees = await listTrees(origin);
  const entry = trees.find(({ path }) => path === options.path);
  const tip = await tipOf(origin, name);
  const past = entry === undefined ? [] : await pastHeads(origin, `worktrees/${name}/HEAD`);
  const commits = await lonelyCommits(origin, [entry?.head, tip, ...past], base);
  const doubt = entry?.locked === true ? LOCKED : elsewhere(trees, options);
  return { changes: 0, commits, doubt, tip };
}

function tipOf(origin: GitHere, name: string): Promise<string | undefined> {
  return answerOf(origin, "rev-parse", "--verify", "--quiet", `refs/heads/${branchOf(name)}`);
}

/** All places that a `HEAD` was at: a commit beside a branch is known by nothing else. */
async function pastHeads(git: GitHere, head: string): Promise<string[]> {
  const max = `--max-count=${MAX_PLACES + 1}`;
  const places = (await outputOf(git, "rev-list", "--walk-reflogs", max, head)).split("\n");
  if (places.length > MAX_PLACES + 1) {
    throw new GitRefusal(`its HEAD was at more than ${MAX_PLACES} places`);
  }
  return places.filter((place) => place !== "");
}

/**
 * Counts the commits that nothing leads to but what is removed: not the branches of other worktrees of
 * mm, which may go at the same time.
 */
async function lonelyCommits(
  origin: GitHere,
  places: readonly (string | undefined)[],
  base: string | undefined,
): Promise<number> {
  const heads = [...new Set(places)].filter((place) => place !== undefined);
  if (heads.every((head) => head === base)) return 0;
  const others = ["--exclude=mm/agent-*", "--branches", "--tags", "--remotes"];
  const known = base === undefined ? [] : [base];
  const text = await outputOf(
    origin,
    "rev-list",
    "--count",
    ...heads,
    "--not",
    ...known,
    ...others,
  );
  return Number(text);
}

async function doubtIn(
  git: GitHere,
  { entry, checkout }: LinkedTree,
): Promise<string | undefined> {
  if (entry.locked) return LOCKED;
  const operation = await operationIn(checkout);
  if (operation !== undefined) return `${operation} is under way in it`;
  const { submodules, overlooked } = await indexFindings(git, checkout);
  if (overlooked.length > 0) return "git was told to overlook changes in it";
  if (submodules.length > 0 || await hasModules(checkout)) return "it has submodules with files";
  if (await outputOf(git, "for-each-ref", "--count=1", ...OWN_REFS) !== "") {
    return "it has references of its own";
  }
  return undefined;
}

/** A branch is not taken away from another working tree: this one may have been moved there. */
function elsewhere(
  trees: readonly RegisteredTree[],
  { name, path }: InspectOptions,
): string | undefined {
  const branch = `refs/heads/${branchOf(name)}`;
  return trees.some((tree) => tree.branch === branch && tree.path !== path)
    ? "its branch is checked out elsewhere"
    : undefined;
}

async function hasModules({ gitDir }: Checkout): Promise<boolean> {
  try {
    return (await readdir(join(gitDir, "modules"))).length > 0;
  } catch (error) {
    return (error as { readonly code?: unknown }).code !== "ENOENT";
  }
}
