/**
 * Whether a path lies in a directory.
 *
 * @module
 */
import { isAbsolute, relative, sep } from "node:path";

/** Says whether a path is a directory or lies below it. Both are absolute; no link is followed. */
export function isWithin(directory: string, path: string): boolean {
  const way = relative(directory, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
