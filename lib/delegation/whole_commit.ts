/**
 * Whether a commit holds all that a session sees in its checkout.
 *
 * @module
 */
import { join, sep } from "node:path";
import { oneLine } from "../base/cut.ts";
import { type GitHere, GitRefusal } from "./git_calls.ts";
import type { Checkout } from "./git_checkout.ts";
import { changedPaths, indexFindings, operationIn, ownFilter } from "./git_state.ts";

/** Paths that are named in a refusal. */
const MAX_NAMED = 5;

/** UTF-16 units of a path in a refusal. */
const MAX_PATH = 120;

/**
 * Refuses where a run in a worktree of the commit would not see what its session sees.
 *
 * @param git runs at the top of the checkout.
 * @throws {GitRefusal} with what is missing.
 */
export async function checkWholeCommit(
  git: GitHere,
  checkout: Checkout,
  commit: string,
): Promise<void> {
  const { top, inside } = checkout;
  const operation = await operationIn(checkout);
  if (operation !== undefined) {
    throw new GitRefusal(`${operation} is under way in "${top}"`, {
      advice: "ask the user to end it first",
    });
  }
  // Before anything that could run a filter.
  const filter = await ownFilter(git);
  if (filter !== undefined) {
    throw new GitRefusal(
      `the repository's own configuration defines the filter "${filter}", a command that git would run ` +
        "without permission",
      { advice: filterAdvice(filter) },
    );
  }
  const [changes, { submodules }] = await Promise.all([
    changedPaths(git),
    indexFindings(git, checkout),
  ]);
  if (changes.length > 0) {
    const many = changes.length === 1 ? "a change that is" : `${changes.length} changes that are`;
    throw new GitRefusal(
      `"${top}" has ${many} not committed and that the subagent would not see: ${named(changes)}`,
      { advice: "ask the user to commit or stash" },
    );
  }
  if (submodules.length > 0) {
    const empty = named(submodules);
    throw new GitRefusal(`"${top}" has submodules, which a worktree would have empty: ${empty}`);
  }
  if (inside !== "" && !await isTree(git, commit, inside)) {
    const path = join(top, inside);
    throw new GitRefusal(`nothing in "${path}" is committed: the subagent would find it empty`);
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

/** Both halves of the remedy: the user's definition alone leaves the repository's where it is. */
function filterAdvice(filter: string): string {
  // The name comes from the repository: nobody shall copy a command out of it.
  const name = /^[\w-]+(?:\.[\w-]+)*$/u.test(filter) ? filter : "<name>";
  return `ask the user to define it for themselves (git config --global filter.${name}.clean …, the ` +
    "same for smudge or process, as the repository has them) and then to remove the repository's own " +
    `(git config --local --remove-section filter.${name})`;
}
