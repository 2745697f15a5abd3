/**
 * Walking a tree of files within limits.
 *
 * @module
 */
import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { type IgnoreRules, isIgnored, rulesAbove, withRulesOf } from "./ignore_rules.ts";

/** Directories that hold what others made; never entered unless they are named. */
export const SKIPPED_DIRECTORIES: ReadonlySet<string> = new Set([".git", "node_modules"]);

/** Entries looked at before a walk gives up. */
const MAX_ENTRIES = 300_000;

/** Options of {@linkcode walkFiles}. */
export interface WalkOptions {
  readonly signal: AbortSignal;
  /** When the walk gives up, as `performance.now()` counts. */
  readonly deadline: number;
}

/** Why a walk ended before it had seen everything. */
export type WalkLimit = "time" | "entries";

/**
 * Yields the files below `root` (absolute paths), each directory in the order of names, without
 * those that `.gitignore` files leave out. Symbolic links to files are yielded, those to
 * directories are not followed: a walk never goes in circles or leaves the tree.
 *
 * @returns the limit that ended the walk, if one did.
 * @throws the error of reading `root` itself; directories below that cannot be read are passed over.
 * @throws the signal's reason when it is aborted.
 */
export async function* walkFiles(
  root: string,
  options: WalkOptions,
): AsyncGenerator<string, WalkLimit | undefined> {
  const state = { seen: 0 };
  return yield* walkDirectory(root, await rulesAbove(root), state, options, true);
}

async function* walkDirectory(
  directory: string,
  above: IgnoreRules | undefined,
  state: { seen: number },
  options: WalkOptions,
  isRoot = false,
): AsyncGenerator<string, WalkLimit | undefined> {
  options.signal.throwIfAborted();
  let entries: Dirent[];
  try {
    entries = await readdir(directory, { withFileTypes: true });
  } catch (error) {
    if (isRoot) throw error;
    return undefined;
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const rules = entries.some((entry) => entry.name === ".gitignore")
    ? await withRulesOf(directory, above)
    : above;
  for (const entry of entries) {
    options.signal.throwIfAborted();
    if (++state.seen > MAX_ENTRIES) return "entries";
    if (performance.now() > options.deadline) return "time";
    const path = join(directory, entry.name);
    if (entry.isDirectory()) {
      if (SKIPPED_DIRECTORIES.has(entry.name) || isIgnored(rules, path, true)) continue;
      const limit = yield* walkDirectory(path, rules, state, options);
      if (limit !== undefined) return limit;
    } else if (!isIgnored(rules, path, false) && await isFile(entry, path)) {
      yield path;
    }
  }
  return undefined;
}

async function isFile(entry: Dirent, path: string): Promise<boolean> {
  if (entry.isFile()) return true;
  if (!entry.isSymbolicLink()) return false;
  return await stat(path).then((found) => found.isFile(), () => false);
}
