/**
 * Worktrees by git: outside of the project's tree, each on a branch of its own.
 *
 * @module
 */
import { lstat, readdir, realpath, rmdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { oneLine } from "../base/cut.ts";
import { messageOf } from "../base/errors.ts";
import type { RunGit } from "../platform/git.ts";
import { GitRefusal } from "./git_calls.ts";
import { type Checkout, findCheckout } from "./git_checkout.ts";
import { linkedTree } from "./git_registry.ts";
import { inspectWorktree } from "./inspect_worktree.ts";
import { makeWorktree } from "./make_worktree.ts";
import { isEmpty, releaseWorktree, removeWorktree } from "./release_worktree.ts";
import type { Worktree, Worktrees } from "./worktree.ts";
import {
  isWellFormed,
  isWorktreeName,
  worktreeFolder,
  type WorktreePlaces,
} from "./worktree_place.ts";

/** Age from which on what an earlier process left is looked at, in milliseconds. */
const SWEEP_AGE_MS = 30 * 24 * 60 * 60 * 1000;

/** UTF-16 units of a path of the model that are repeated to it. */
const MAX_PATH = 200;

/** Options of {@linkcode createGitWorktrees}. */
export interface GitWorktreesOptions extends WorktreePlaces {
  readonly run: RunGit;
  /** Returns a name that has not been tried: `agent-` and seven hexadecimal digits. @default {random} */
  readonly newName?: () => string;
  /** Milliseconds since 1970. @default {Date.now} */
  readonly now?: () => number;
}

/** Returns the worktrees of one process. */
export function createGitWorktrees(options: GitWorktreesOptions): Worktrees {
  const { run, newName, now = Date.now } = options;
  /** Those of this process by their paths, which no sweep touches, and the commits they began with. */
  const own = new Map<string, string>();
  /** Directories of sessions whose repository was swept. */
  const swept = new Set<string>();
  const sweep: Worktrees["sweep"] = async ({ cwd, signal }) => {
    try {
      const home = await findCheckout(run, { cwd, signal });
      const folder = await realpath(worktreeFolder(options, home));
      for (const name of (await readdir(folder)).filter(isWorktreeName)) {
        const path = join(folder, name);
        if (own.has(path)) continue;
        const { mtimeMs } = await lstat(path);
        if (now() - mtimeMs < SWEEP_AGE_MS) continue;
        await sweepOne({ run, home, path, name, signal }).catch(() => {});
      }
    } catch {
      // It is tried again by the next process; what is there does no harm.
    }
  };
  return {
    async create({ cwd, signal }) {
      if (!swept.has(cwd)) {
        swept.add(cwd);
        await sweep({ cwd, signal });
      }
      try {
        const worktree = await makeWorktree({ run, places: options, newName, cwd, signal });
        own.set(worktree.path, worktree.base);
        return { worktree };
      } catch (error) {
        signal.throwIfAborted();
        return { error: notMade(error) };
      }
    },
    async release(worktree) {
      const base = own.get(worktree.path);
      const end = await releaseWorktree(worktree, { run, places: options, base });
      if (!end.kept) own.delete(worktree.path);
      return end;
    },
    async existing({ path, cwd, signal }) {
      try {
        const home = await findCheckout(run, { cwd, signal });
        const real = await realpath(resolve(cwd, path));
        await linkedTree(run, { path: real, home, signal });
        return { path: real, origin: home.top };
      } catch (error) {
        signal.throwIfAborted();
        return { error: notUsable(path, error) };
      }
    },
    alive: (worktree) => isAlive(run, worktree),
    sweep,
  };
}

function notMade(error: unknown): string {
  const advice = error instanceof GitRefusal && error.advice !== undefined
    ? `${error.advice}, or `
    : "";
  return `no worktree can be made: ${
    messageOf(error)
  }; ${advice}start the subagent without "isolation"`;
}

function notUsable(path: string, error: unknown): string {
  const missing = (error as { readonly code?: unknown }).code === "ENOENT";
  const reason = missing ? "there is no such directory" : messageOf(error);
  return `"working_dir" cannot be ${
    JSON.stringify(oneLine(path, MAX_PATH))
  }: ${reason}; name a linked ` +
    'worktree of this repository ("git worktree list" shows them), or leave "working_dir" out';
}

async function isAlive(run: RunGit, worktree: Worktree): Promise<boolean> {
  const { path, origin, cwd } = worktree;
  const { signal } = new AbortController();
  try {
    if (!isWellFormed(worktree)) return false;
    // None of the two may be a link that leads elsewhere.
    if (await realpath(path) !== path || await realpath(cwd) !== cwd) return false;
    const home = await findCheckout(run, { cwd: origin, signal });
    await linkedTree(run, { path, home, signal });
    return true;
  } catch {
    return false;
  }
}

/** Options of {@linkcode sweepOne}. */
interface SweepOptions {
  readonly run: RunGit;
  readonly home: Checkout;
  readonly path: string;
  readonly name: string;
  readonly signal: AbortSignal;
}

async function sweepOne(options: SweepOptions): Promise<void> {
  const { path } = options;
  if (!(await lstat(path)).isDirectory()) return;
  // A process that was killed before it began: an empty directory that belongs to no repository.
  if ((await readdir(path)).length === 0) return await rmdir(path);
  const findings = await inspectWorktree(options);
  if (isEmpty(findings)) await removeWorktree(options, findings);
}
