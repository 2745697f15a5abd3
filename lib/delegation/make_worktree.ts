/**
 * Making a worktree for a run.
 *
 * @module
 */
import { mkdir, realpath, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../base/errors.ts";
import { isWithin } from "../base/is_within.ts";
import type { RunGit } from "../platform/git.ts";
import { plannedPath } from "../platform/planned_path.ts";
import { answerOf, type GitHere, gitIn, GitRefusal, HALF_MADE, wordsOf } from "./git_calls.ts";
import { type Checkout, findCheckout } from "./git_checkout.ts";
import { listTrees } from "./git_registry.ts";
import { exists } from "./git_state.ts";
import { checkWholeCommit } from "./whole_commit.ts";
import type { Worktree } from "./worktree.ts";
import {
  branchOf,
  isOurs,
  newWorktreeName,
  worktreeFolder,
  type WorktreePlaces,
} from "./worktree_place.ts";

/** Names that are tried. */
const MAX_TRIES = 10;

/** Another worktree, branch or process was in the way; another name may do. */
const IN_THE_WAY =
  /already exists|already checked out|File exists|could not lock|cannot lock|could not create dir/u;

/** Options of {@linkcode makeWorktree}. */
export interface MakeWorktreeOptions {
  readonly run: RunGit;
  readonly places: WorktreePlaces;
  /** The session's directory, absolute. */
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** Returns a name that has not been tried. @default {newWorktreeName} */
  readonly newName?: (() => string) | undefined;
}

/**
 * Makes a worktree on a branch of its own, at the commit that is checked out. It is made only where the
 * run sees in it all that the session sees.
 *
 * @throws {GitRefusal} where it cannot be made, with the reason.
 * @throws the signal's reason when it is aborted; nothing is left then.
 */
export async function makeWorktree(options: MakeWorktreeOptions): Promise<Worktree> {
  const { run, signal } = options;
  const checkout = await findCheckout(run, options);
  const git = gitIn(run, { cwd: checkout.top, signal });
  const { base, from } = await headOf(git);
  if (isOurs(checkout)) {
    throw new GitRefusal(`"${checkout.top}" is a worktree of its own already`);
  }
  const folder = await folderFor(options, checkout, git);
  await checkWholeCommit(git, checkout, base);
  return await add(options, { checkout, git, folder, base, from });
}

/** The commit and the branch that are checked out. */
async function headOf(git: GitHere): Promise<{ base: string; from: string | undefined }> {
  const [base, from] = await Promise.all([
    answerOf(git, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"),
    answerOf(git, "symbolic-ref", "--quiet", "--short", "HEAD"),
  ]);
  if (base === undefined) {
    throw new GitRefusal("the repository has no commit yet", {
      advice: "ask the user for a first commit",
    });
  }
  return { base, from };
}

/** Never in a working tree, where what lies in it would be a change. */
async function folderFor(
  { places }: MakeWorktreeOptions,
  checkout: Checkout,
  git: GitHere,
): Promise<string> {
  const folder = await plannedPath(worktreeFolder(places, checkout));
  const trees = await Promise.all(
    (await listTrees(git)).map(({ path }) => realpath(path).catch(() => path)),
  );
  const around = [...trees, checkout.commonDir].find((tree) => isWithin(tree, folder));
  if (around !== undefined) {
    throw new GitRefusal(
      `the folder for worktrees "${folder}" lies in "${around}", which belongs to the repository`,
      { advice: "ask the user to set agents.worktree.path to a folder outside of it" },
    );
  }
  return folder;
}

/** What a worktree is made of. */
interface Plan {
  readonly checkout: Checkout;
  readonly git: GitHere;
  readonly folder: string;
  readonly base: string;
  readonly from: string | undefined;
}

async function add(options: MakeWorktreeOptions, plan: Plan): Promise<Worktree> {
  const { newName = newWorktreeName } = options;
  let refusal = new GitRefusal(`none of ${MAX_TRIES} names was free`, { advice: "try again" });
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const name = newName();
    const path = await claim(plan, name);
    if (path === undefined) continue;
    const branch = branchOf(name);
    try {
      await checkOut(options, plan, { path, branch });
      return await finished(plan, { path, branch });
    } catch (error) {
      await undo(options, plan, { path, name, error });
      if (!(error instanceof GitRefusal)) throw error;
      refusal = error;
      if (!IN_THE_WAY.test(error.message) && !HALF_MADE.test(error.message)) break;
    }
  }
  throw refusal;
}

/** Makes the directory, if neither it nor a branch or an entry of that name is there. */
async function claim(plan: Plan, name: string): Promise<string | undefined> {
  const { checkout, folder, git } = plan;
  const branch = `refs/heads/${branchOf(name)}`;
  if (await answerOf(git, "rev-parse", "--verify", "--quiet", branch) !== undefined) {
    return undefined;
  }
  if (await exists(join(checkout.commonDir, "worktrees", name))) return undefined;
  const path = join(folder, name);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await mkdir(path, { mode: 0o700 });
    return path;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === "EEXIST" && await exists(path)) {
      return undefined;
    }
    throw new GitRefusal(
      `the directory "${path}" cannot be made: ${messageOf(error)}`,
      { advice: "ask the user about agents.worktree.path", cause: error },
    );
  }
}

/** Without a branch to follow, and with each file looked at later as git looks at any. */
async function checkOut(
  { run, signal }: MakeWorktreeOptions,
  { checkout, base }: Plan,
  { path, branch }: Pick<Worktree, "path" | "branch">,
): Promise<void> {
  const flags = ["--quiet", "--checkout", "--no-track", "-b", branch];
  const args = ["-c", "core.ignoreStat=false", "worktree", "add", ...flags, "--", path, base];
  // Not to be asked twice: it makes the branch first.
  const result = await run(args, { cwd: checkout.top, signal });
  if (result.code !== 0) throw new GitRefusal(wordsOf(result));
}

async function finished(
  { checkout, base, from }: Plan,
  { path, branch }: Pick<Worktree, "path" | "branch">,
): Promise<Worktree> {
  const { top, inside } = checkout;
  const cwd = await realpath(join(path, inside)).catch(() => undefined);
  if (cwd === undefined || cwd !== join(path, inside) || !(await stat(cwd)).isDirectory()) {
    throw new GitRefusal(`the worktree has no directory "${inside}"`);
  }
  return { path, branch, base, ...(from === undefined ? {} : { from }), origin: top, cwd };
}

/** Takes back what was begun; whoever wanted it may be gone by now. */
async function undo(
  { run }: MakeWorktreeOptions,
  { checkout, base }: Plan,
  { path, name, error }: {
    readonly path: string;
    readonly name: string;
    readonly error: unknown;
  },
): Promise<void> {
  const git = gitIn(run, { cwd: checkout.top, signal: new AbortController().signal });
  const { commonDir } = checkout;
  const ref = `refs/heads/${branchOf(name)}`;
  // All of them bear a name that nothing had before; a lock is left by a git that had to be killed.
  for (const left of [path, join(commonDir, "worktrees", name), join(commonDir, `${ref}.lock`)]) {
    await rm(left, { recursive: true, force: true }).catch(() => {});
  }
  // Somebody else has made the branch in between.
  if (error instanceof GitRefusal && /branch named .* already exists/u.test(error.message)) return;
  await git("update-ref", "-d", ref, base);
}
