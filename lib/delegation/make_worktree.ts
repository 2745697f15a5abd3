/**
 * Making a worktree for a run.
 *
 * @module
 */
import { mkdir, realpath, rm, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { oneLine } from "../base/cut.ts";
import { messageOf } from "../base/errors.ts";
import type { RunGit } from "./git.ts";
import { answerOf, type GitHere, gitIn, GitRefusal, wordsOf } from "./git_calls.ts";
import { type Checkout, findCheckout, isWithin } from "./git_checkout.ts";
import { listTrees } from "./git_registry.ts";
import { changedPaths, exists, indexFindings, operationIn, ownFilter } from "./git_state.ts";
import type { Worktree } from "./worktree.ts";
import {
  branchOf,
  isOurs,
  newWorktreeName,
  plannedPath,
  worktreeFolder,
  type WorktreePlaces,
} from "./worktree_place.ts";

/** Names that are tried. */
const MAX_TRIES = 5;

/** Changes that are named in a refusal. */
const MAX_NAMED = 5;

/** UTF-16 units of a path in a refusal. */
const MAX_PATH = 120;

/** What the model can do where there is no worktree. */
const WITHOUT = 'start the subagent without "isolation"';

/** Another worktree, branch or process was in the way; another name may do. */
const IN_THE_WAY = /already exists|already checked out|File exists|could not lock|cannot lock/u;

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
 * @throws {GitRefusal} where it cannot be made, with the reason and what to do.
 * @throws the signal's reason when it is aborted; nothing is left then.
 */
export async function makeWorktree(options: MakeWorktreeOptions): Promise<Worktree> {
  const { run, signal } = options;
  const checkout = await findCheckout(run, options).catch((error: unknown) => {
    throw error instanceof GitRefusal ? new GitRefusal(`${error.message}; ${WITHOUT}`) : error;
  });
  const git = gitIn(run, { cwd: checkout.top, signal });
  const { base, from } = await headOf(git);
  if (isOurs(checkout)) {
    throw new GitRefusal(`"${checkout.top}" is a worktree of its own already; ${WITHOUT}`);
  }
  const folder = await folderFor(options, checkout, git);
  await refuseUnlessAllIsInCommit(git, checkout, base);
  return await add(options, { checkout, git, folder, base, from });
}

/** The commit and the branch that are checked out. */
async function headOf(git: GitHere): Promise<{ base: string; from: string | undefined }> {
  const [base, from] = await Promise.all([
    answerOf(git, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"),
    answerOf(git, "symbolic-ref", "--quiet", "--short", "HEAD"),
  ]);
  if (base === undefined) {
    throw new GitRefusal(
      `the repository has no commit yet; ask the user for a first commit, or ${WITHOUT}`,
    );
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
      `the folder for worktrees "${folder}" lies in the repository's "${around}"; ask the user to set ` +
        `agents.worktree.path to a folder outside of it, or ${WITHOUT}`,
    );
  }
  return folder;
}

async function refuseUnlessAllIsInCommit(
  git: GitHere,
  checkout: Checkout,
  base: string,
): Promise<void> {
  const { top, inside } = checkout;
  const operation = await operationIn(checkout);
  if (operation !== undefined) {
    throw new GitRefusal(
      `${operation} is under way in "${top}"; ask the user to end it first, or ${WITHOUT}`,
    );
  }
  // Before anything that could run a filter.
  const filter = await ownFilter(git);
  if (filter !== undefined) {
    throw new GitRefusal(
      `the repository's own configuration defines the filter "${
        oneLine(filter, MAX_PATH)
      }", a command ` +
        "that git would run without anyone's permission; ask the user to define it with " +
        `"git config --global", or ${WITHOUT}`,
    );
  }
  const [changes, { submodules }] = await Promise.all([
    changedPaths(git),
    indexFindings(git, checkout),
  ]);
  if (changes.length > 0) {
    const one = changes.length === 1;
    throw new GitRefusal(
      `"${top}" has ${changes.length} ${one ? "change" : "changes"} that ${
        one ? "is" : "are"
      } not ` +
        `committed and that the subagent would not see: ${
          named(changes)
        }; ask the user to commit or ` +
        `stash, or ${WITHOUT}`,
    );
  }
  if (submodules.length > 0) {
    throw new GitRefusal(
      `"${top}" has submodules, which would be empty in a worktree: ${
        named(submodules)
      }; ${WITHOUT}`,
    );
  }
  if (inside !== "" && !await isTree(git, base, inside)) {
    throw new GitRefusal(
      `nothing in "${
        join(top, inside)
      }" is committed: the subagent would find it empty; ${WITHOUT}`,
    );
  }
}

function named(paths: readonly string[]): string {
  const first = paths.slice(0, MAX_NAMED).map((path) => JSON.stringify(oneLine(path, MAX_PATH)));
  return paths.length > MAX_NAMED ? `${first.join(", ")}, ...` : first.join(", ");
}

async function isTree(git: GitHere, commit: string, path: string): Promise<boolean> {
  const { code, stdout } = await git("cat-file", "-t", `${commit}:${path.replaceAll(sep, "/")}`);
  return code === 0 && stdout === "tree\n";
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
  let refusal = new GitRefusal(`none of ${MAX_TRIES} names was free; try again`);
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const name = newName();
    const path = await claim(plan, name);
    if (path === undefined) continue;
    const branch = branchOf(name);
    try {
      await checkOut(plan, { path, branch });
      return await finished(plan, { path, branch });
    } catch (error) {
      await undo(options, plan, { path, name, error });
      if (!(error instanceof GitRefusal)) throw error;
      refusal = error;
      if (!IN_THE_WAY.test(error.message)) break;
    }
  }
  throw new GitRefusal(`${refusal.message}; ${WITHOUT}`, { cause: refusal.cause });
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
      `the directory "${path}" cannot be made: ${messageOf(error)}; ask the user about ` +
        "agents.worktree.path",
      { cause: error },
    );
  }
}

/** Without a branch to follow, and with each file looked at later as git looks at any. */
async function checkOut(
  { git, base }: Plan,
  { path, branch }: Pick<Worktree, "path" | "branch">,
): Promise<void> {
  const flags = ["--quiet", "--checkout", "--no-track", "-b", branch];
  const result = await git(
    "-c",
    "core.ignoreStat=false",
    "worktree",
    "add",
    ...flags,
    "--",
    path,
    base,
  );
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
