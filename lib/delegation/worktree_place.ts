/**
 * Where worktrees of mm lie, and what they are called.
 *
 * @module
 */
import { randomBytes } from "node:crypto";
import { basename, dirname, isAbsolute, join } from "node:path";
import { isWithin } from "../base/is_within.ts";
import { projectDir } from "../store/places.ts";
import { type Checkout, isLinked } from "./git_checkout.ts";
import type { Worktree } from "./worktree.ts";

/** Seven hexadecimal digits, and nothing else: no other directory or branch is ever removed. */
const NAME = /^agent-[0-9a-f]{7}$/u;

/** Says whether a directory has the name of a worktree of mm. */
export function isWorktreeName(name: string): boolean {
  return NAME.test(name);
}

/** Returns a new name. */
export function newWorktreeName(): string {
  return `agent-${randomBytes(4).toString("hex").slice(0, 7)}`;
}

/** Returns the branch of a worktree by its name. */
export function branchOf(name: string): string {
  return `mm/${name}`;
}

/** Says whether a checkout is a worktree that mm made. */
export function isOurs(checkout: Checkout): boolean {
  return isLinked(checkout) && isWorktreeName(basename(checkout.top));
}

/** Says whether a worktree has the form that mm gives to its own: it may come from a file. */
export function isWellFormed({ path, branch, origin, cwd, base }: Worktree): boolean {
  return isAbsolute(path) && isAbsolute(origin) && isWithin(path, cwd) &&
    isWorktreeName(basename(path)) && branch === branchOf(basename(path)) &&
    /^[0-9a-f]{40,64}$/u.test(base);
}

/** Where worktrees are made. */
export interface WorktreePlaces {
  /** The directory of mm's state, absolute. */
  readonly stateDir: string;
  /** The folder that the configuration names, absolute. */
  readonly path?: string | undefined;
}

/** Returns the folder for the worktrees of a repository; absolute. */
export function worktreeFolder({ stateDir, path }: WorktreePlaces, checkout: Checkout): string {
  if (path !== undefined) return path;
  const { commonDir } = checkout;
  const project = basename(commonDir) === ".git" ? dirname(commonDir) : commonDir;
  return join(stateDir, "worktrees", basename(projectDir(stateDir, project)));
}
