/**
 * The saved conversations of a test's project, as files.
 *
 * @module
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Json } from "./acp_editor.ts";
import type { TestProject } from "./project.ts";

/** A file of the state directory. */
export interface SavedFile {
  /** Absolute. */
  readonly path: string;
  readonly name: string;
}

/** Returns all files of the projects in a state directory, in the order of their names. */
export async function savedFiles(p: TestProject, stateDir = p.stateDir): Promise<SavedFile[]> {
  const projects = join(stateDir, "projects");
  const dirs = await readdir(projects).catch(() => []);
  const files = await Promise.all(
    dirs.map(async (dir) =>
      (await readdir(join(projects, dir))).map((name) => ({
        path: join(projects, dir, name),
        name,
      }))
    ),
  );
  return files.flat().sort((a, b) => a.path < b.path ? -1 : 1);
}

/** Returns the conversations' files alone. */
export async function conversationFiles(p: TestProject, stateDir?: string): Promise<SavedFile[]> {
  return (await savedFiles(p, stateDir)).filter(({ name }) => name.endsWith(".jsonl"));
}

/** Returns the lines of a file as values; each has to be JSON. */
export async function linesOf(path: string): Promise<Json[]> {
  return (await readFile(path, "utf8")).trimEnd().split("\n").map((line) => JSON.parse(line));
}

/** Returns the id of the only conversation. */
export async function onlyId(p: TestProject): Promise<string> {
  const [file, ...more] = await conversationFiles(p);
  if (file === undefined || more.length > 0) throw new Error(`${more.length + 1} conversations`);
  return file.name.slice(0, -".jsonl".length);
}
