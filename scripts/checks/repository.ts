/**
 * The repository's files, as scripts see them.
 *
 * @module
 */
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { join } from "node:path";

/** The repository's root, absolute, without a final slash. */
export const ROOT: string = fileURLToPath(new URL("../..", import.meta.url)).replace(/[/\\]$/u, "");

/** Folders whose files are made, not written. */
const MADE = new Set(["node_modules", "build", "coverage", ".git"]);

/** Returns the paths from the root, with `/`, of all files with one of the endings, sorted. */
export async function listFiles(endings: readonly string[], root = ROOT): Promise<string[]> {
  const found: string[] = [];
  const walk = async (folder: string): Promise<void> => {
    for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!MADE.has(entry.name)) await walk(path);
      } else if (endings.some((ending) => entry.name.endsWith(ending))) {
        found.push(path);
      }
    }
  };
  await walk("");
  return found.sort();
}

/** Reads a file of the repository as text. */
export function readText(path: string, root = ROOT): Promise<string> {
  return readFile(join(root, path), "utf8");
}
