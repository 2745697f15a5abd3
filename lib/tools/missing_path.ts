/**
 * What to say of a path that does not exist: the name that was probably meant.
 *
 * @module
 */
import { readdir, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative } from "node:path";
import { nearest } from "../base/nearest.ts";
import { showPath } from "./tool_paths.ts";

/** Names of a directory that are compared. */
const MAX_COMPARED = 20_000;

/**
 * Returns a hint that continues `no such file`, or an empty string: a near name in the same
 * directory, the same path under the working directory, or the last part of the path that exists.
 *
 * @param path absolute, known not to exist.
 */
export async function missingHint(path: string, cwd: string): Promise<string> {
  // "/src/x.ts" is often meant as seen from the project.
  const inside = join(cwd, path);
  if (isAbsolute(path) && relative(cwd, path).startsWith("..") && await exists(inside)) {
    return `; did you mean "${showPath(inside, cwd)}"?`;
  }
  const parent = dirname(path);
  const names = await readdir(parent).catch(() => undefined);
  if (names !== undefined) {
    const near = nearestName(basename(path), names.slice(0, MAX_COMPARED));
    return near === undefined ? "" : `; did you mean "${showPath(join(parent, near), cwd)}"?`;
  }
  let existing = parent;
  while (dirname(existing) !== existing && !await exists(existing)) existing = dirname(existing);
  return `; of its path only "${showPath(existing, cwd)}" exists`;
}

/** A wrong extension or a wrong case is a nearer miss than any other name. */
function nearestName(name: string, names: readonly string[]): string | undefined {
  const lower = name.toLowerCase();
  const stem = lower.replace(/\.[^.]*$/u, "");
  return names.find((other) => other.toLowerCase() === lower) ??
    nearest(name, names) ??
    names.find((other) => stem !== "" && other.toLowerCase().replace(/\.[^.]*$/u, "") === stem);
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(() => true, () => false);
}
