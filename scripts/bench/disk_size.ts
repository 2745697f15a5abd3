/**
 * How much of the disk a program takes.
 *
 * @module
 */
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

/** Returns the size of a file, or of all files below a folder, in bytes; links count as themselves. */
export async function sizeOnDisk(path: string): Promise<number> {
  const found = await lstat(path);
  if (!found.isDirectory()) return found.size;
  let bytes = 0;
  for (const name of await readdir(path)) bytes += await sizeOnDisk(join(path, name));
  return bytes;
}
