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
  /** The branch that was checked out where it was made from: `main`; absent for a detached `HEAD`. */
  readonly from?: string | undefined;
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
  /**
   * Removes the worktree and its branch if both are provably as they were; else says what is kept. Files
   * that git ignores go with the worktree. Never rejects: whatever git does not say for certain is kept.
   */
  release(worktree: Worktree): Promise<WorktreeEnd>;
  /**
   * Checks that a directory is a worktree of the repository of `cwd` other than the main one.
   *
   * @param path as the model wrote it; relative to `cwd`.
   * @returns its real path and the top of the checkout of `cwd`, or why it is none: a sentence that
   * tells the model what to do.
   * @throws the signal's reason when it is aborted.
   */
  existing(
    options: { readonly path: string; readonly cwd: string; readonly signal: AbortSignal },
  ): Promise<{ readonly path: string; readonly origin: string } | { readonly error: string }>;
  /** Says whether a worktree that an earlier process made is still there and still one; never rejects. */
  alive(worktree: Worktree): Promise<boolean>;
  /**
   * Removes what earlier processes left and is provably empty; never rejects. The first `create` for a
   * directory does it by itself.
   */
  sweep(options: { readonly cwd: string; readonly signal: AbortSignal }): Promise<void>;
}

/** What a run is told of its worktree. */
export type WorktreeNotice =
  & Pick<Worktree, "path" | "origin">
  & Partial<Pick<Worktree, "branch" | "base" | "from">>;

/**
 * What a run in a worktree is told before its prompt.
 *
 * @param worktree `branch` and `base` are those of a worktree that was made for the run.
 */
export function worktreeNotice(worktree: WorktreeNotice): string {
  const { path, origin, branch, base, from } = worktree;
  const made = branch === undefined || base === undefined ? [] : [
    `It was made for you, on the branch "${branch}", which begins at the commit ${
      base.slice(0, 12)
    }` +
    (from === undefined ? "." : ` of "${from}".`),
    "What git ignores is deleted with it: put results into files that git does not ignore.",
  ];
  const words = [
    `You work in "${path}", a git worktree.`,
    ...made,
    `Paths in the task that begin with "${origin}" mean the same place under "${path}"; leave the ` +
    "original alone, and read a file here before you change it.",
  ];
  return `[${words.join(" ")}]`;
}
