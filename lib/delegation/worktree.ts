/**
 * What delegation needs of worktrees; `git_worktrees.ts` implements it.
 *
 * @module
 */

/** A worktree that mm made for one run. */
export interface Worktree {
  /** Its directory, absolute, links resolved. */
  readonly path: string;
  readonly branch: string;
  /** The commit it began with. */
  readonly base: string;
  /** The top of the checkout it was made from, absolute. */
  readonly origin: string;
  /** The session's directory inside of the worktree: where the run works, absolute. */
  readonly cwd: string;
}

/** What became of a worktree after a run. */
export type WorktreeEnd =
  | { readonly kept: false }
  /** `words`: for the model and the person, a sentence that names the path and the branch. */
  | { readonly kept: true; readonly words: string };

/** Makes and removes the worktrees of one process. */
export interface Worktrees {
  /**
   * Makes a worktree for a run that is started in `cwd`.
   *
   * @returns the worktree, or why there is none: a sentence that tells the model what to do.
   * @throws the signal's reason when it is aborted; nothing is left then.
   */
  create(
    options: { readonly cwd: string; readonly signal: AbortSignal },
  ): Promise<{ readonly worktree: Worktree } | { readonly error: string }>;
  /** Removes the worktree and its branch if both are provably as they were; else says what is kept. */
  release(worktree: Worktree): Promise<WorktreeEnd>;
  /**
   * Checks that a directory is a worktree of the repository of `cwd` other than the main one.
   *
   * @param path as the model wrote it; relative to `cwd`.
   * @returns its real path, or why it is none: a sentence that tells the model what to do.
   */
  existing(
    options: { readonly path: string; readonly cwd: string; readonly signal: AbortSignal },
  ): Promise<{ readonly path: string } | { readonly error: string }>;
  /** Says whether a worktree that an earlier process made is still there and still one. */
  alive(worktree: Worktree): Promise<boolean>;
  /** Removes what earlier processes left and is provably empty; never rejects. */
  sweep(options: { readonly cwd: string; readonly signal: AbortSignal }): Promise<void>;
}

/** What a run in a worktree is told before its prompt. */
export function worktreeNotice(worktree: Pick<Worktree, "path" | "origin">): string {
  return `[You work in "${worktree.path}", a git worktree of its own. Paths in the task that begin ` +
    `with "${worktree.origin}" mean the same place under "${worktree.path}"; leave the original ` +
    "alone, and read a file here before you change it.]";
}
