/**
 * What is said of a worktree that is kept.
 *
 * @module
 */
import type { Findings } from "./inspect_worktree.ts";
import type { Worktree } from "./worktree.ts";

/** Says what is in a worktree, and how to look at it, to take it over and to remove it. */
export function keptWords(worktree: Worktree, findings: Findings): string {
  const { path, branch, base, from } = worktree;
  const { changes, commits, doubt } = findings;
  const held = [
    ...(changes > 0 ? [count(changes, "changed or untracked file")] : []),
    ...(commits > 0 ? [count(commits, "commit")] : []),
  ].join(" and ");
  const what = held === "" ? "" : ` with ${held}`;
  const why = doubt === undefined ? "" : ` (${doubt})`;
  const since = `, made from the commit ${base.slice(0, 12)}${
    from === undefined ? "" : ` of "${from}"`
  }`;
  const take = changes > 0
    ? "commit what is wanted there, then merge the branch"
    : `git merge ${branch}`;
  return `The worktree "${path}" on the branch "${branch}"${since}, is kept${what}${why}. To look: ` +
    `git -C ${shellWord(path)} status. To take it over: ${take}. To remove it: ` +
    `git worktree remove --force ${shellWord(path)} && git branch -D ${branch}.`;
}

/** Says that a worktree could not be looked at. */
export function unclearWords({ path, branch }: Worktree, reason: string): string {
  return `The worktree "${path}" on the branch "${branch}" is kept, for it is not certain that nothing ` +
    `would be lost: ${reason}. To look: git -C ${shellWord(path)} status.`;
}

/** Says that the directory of a worktree is gone and its branch is not. */
export function goneWords({ path, branch }: Worktree, findings: Findings): string {
  const { commits, tip, doubt } = findings;
  const held = commits > 0 ? ` with ${count(commits, "commit")}` : "";
  const why = doubt === undefined ? "" : ` (${doubt})`;
  if (tip === undefined) {
    return `The worktree "${path}" is gone, and so is its branch "${branch}"${why}` +
      `${held === "" ? "" : `; git still knows what it was at${held}: git reflog`}.`;
  }
  return `The worktree "${path}" is gone; its branch "${branch}" is kept${held}${why}. To have the ` +
    `files again: git worktree prune && git worktree add ${
      shellWord(path)
    } ${branch}. To remove the ` +
    `branch: git branch -D ${branch}.`;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

/** A path as a word of a command line, for whoever copies it. */
function shellWord(path: string): string {
  return /^[\w./@%+,:=-]+$/u.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
