/**
 * Removing a worktree after a run, if nothing is lost with it.
 *
 * @module
 */
import { lstat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { messageOf } from "../base/errors.ts";
import type { GitResult, RunGit } from "../platform/git.ts";
import { plannedPath } from "../platform/planned_path.ts";
import { answerOf, type GitHere, gitIn, GitRefusal, wordsOf } from "./git_calls.ts";
import { findCheckout } from "./git_checkout.ts";
import { listTrees } from "./git_registry.ts";
import { exists } from "./git_state.ts";
import {
  type Findings,
  inspectGone,
  type InspectOptions,
  inspectWorktree,
} from "./inspect_worktree.ts";
import type { Worktree, WorktreeEnd } from "./worktree.ts";
import { branchOf, isWellFormed, worktreeFolder, type WorktreePlaces } from "./worktree_place.ts";
import { goneWords, keptWords, unclearWords } from "./worktree_words.ts";

/** Options of {@linkcode releaseWorktree}. */
export interface ReleaseOptions {
  readonly run: RunGit;
  readonly places: WorktreePlaces;
  /**
   * The commit it began with, of one that this process made; absent for any other. What is said of that
   * one comes from a file, and may be anything.
   */
  readonly base: string | undefined;
}

/** Removes a worktree and its branch where nothing is lost with them; never rejects. */
export async function releaseWorktree(
  worktree: Worktree,
  options: ReleaseOptions,
): Promise<WorktreeEnd> {
  try {
    return await release(worktree, options);
  } catch (error) {
    return { kept: true, words: unclearWords(worktree, messageOf(error)) };
  }
}

async function release(
  worktree: Worktree,
  { run, places, base }: ReleaseOptions,
): Promise<WorktreeEnd> {
  const { path, origin } = worktree;
  if (!isWellFormed(worktree)) throw new GitRefusal("it is not described as a worktree of mm");
  const { signal } = new AbortController();
  const home = await findCheckout(run, { cwd: origin, signal });
  if (base === undefined && dirname(path) !== await plannedPath(worktreeFolder(places, home))) {
    throw new GitRefusal("it does not lie in the folder for worktrees of its repository");
  }
  const options = { run, home, path, name: basename(path), base, signal };
  if (!await exists(path)) {
    const findings = await inspectGone(options);
    if (isEmpty(findings)) return await removed(options, worktree, findings);
    return { kept: true, words: goneWords(worktree, findings) };
  }
  if (!(await lstat(path)).isDirectory()) throw new GitRefusal("its path is no directory");
  const findings = await inspectWorktree(options);
  if (isEmpty(findings)) return await removed(options, worktree, findings);
  return { kept: true, words: keptWords(worktree, findings) };
}

async function removed(
  options: InspectOptions,
  worktree: Worktree,
  findings: Findings,
): Promise<WorktreeEnd> {
  const left = await removeWorktree(options, findings);
  if (left === undefined) return { kept: false };
  return {
    kept: true,
    words: left.directory
      ? unclearWords(worktree, `git could not remove it entirely (${left.reason})`)
      : goneWords(worktree, { ...findings, doubt: `it could not be removed: ${left.reason}` }),
  };
}

/** Says whether a worktree can go. */
export function isEmpty({ changes, commits, doubt }: Findings): boolean {
  return changes === 0 && commits === 0 && doubt === undefined;
}

/**
 * Removes a worktree that was found to be empty, and its branch if that is where it was found.
 *
 * @returns what could not be removed, and why; `undefined` when all is gone.
 */
export async function removeWorktree(
  { run, home, path, name, signal }: InspectOptions,
  { tip }: Findings,
): Promise<{ readonly directory: boolean; readonly reason: string } | undefined> {
  const git = gitIn(run, { cwd: home.top, signal });
  const known = (await listTrees(git)).some((tree) => tree.path === path);
  if (known) {
    const result = await removeDirectory(git, path);
    if (result.code !== 0) return { directory: await exists(path), reason: wordsOf(result) };
  }
  const branch = branchOf(name);
  if (tip !== undefined) {
    // Only from where it was found: whoever has moved it since keeps it.
    const result = await git("update-ref", "-d", `refs/heads/${branch}`, tip);
    if (result.code !== 0) return { directory: false, reason: wordsOf(result) };
  }
  await forgetSettings(git, branch);
  return undefined;
}

/** git itself looks once more whether something was changed, whatever the configuration hides. */
async function removeDirectory(git: GitHere, path: string): Promise<GitResult> {
  const args = ["-c", "status.showUntrackedFiles=normal", "worktree", "remove"];
  const result = await git(...args, "--", path);
  // Some versions never remove one with submodules, though they are empty, as was seen.
  return result.code !== 0 && /containing submodules/u.test(result.stderr)
    ? await git(...args, "--force", "--", path)
    : result;
}

/** What a push has written down of the branch. */
async function forgetSettings(git: GitHere, branch: string): Promise<void> {
  const pattern = `^branch\\.${branch.replace("/", "\\/")}\\.`;
  const settings = await answerOf(git, "config", "--local", "--get-regexp", pattern)
    .catch(() => undefined);
  if (settings !== undefined) {
    await git("config", "--local", "--remove-section", `branch.${branch}`);
  }
}
