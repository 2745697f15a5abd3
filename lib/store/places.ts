/**
 * Where saved conversations lie: one directory for each project, one file for each conversation.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { basename, join } from "node:path";

/** An id, and so a part of a file's name: what `crypto.randomUUID()` makes. */
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/u;

/** The end of a conversation's file name. */
const EXTENSION = ".jsonl";

/** UTF-16 units of a project's name that stand in its directory's. */
const NAME_LENGTH = 40;

/** Says whether a text has the form of an id. Anything else is never used as a part of a path. */
export function isSessionId(text: string): boolean {
  return ID.test(text);
}

/** Returns the directory that holds the projects. */
export function projectsDir(stateDir: string): string {
  return join(stateDir, "projects");
}

/**
 * Returns the directory of a project's conversations. Its name is the last part of the project's
 * path, for people, and a hash of the whole, which makes it unique. Symbolic links are followed, so
 * that a project is one however it is called.
 */
export function projectDir(stateDir: string, cwd: string): string {
  const path = realPath(cwd);
  const name = basename(path).toLowerCase().replace(/[^a-z0-9]+/gu, "-").replace(/^-+/u, "")
    .slice(0, NAME_LENGTH).replace(/-+$/u, "");
  const hash = createHash("sha256").update(path).digest("hex").slice(0, 16);
  return join(projectsDir(stateDir), `${name === "" ? "root" : name}-${hash}`);
}

/** Says whether two paths are the same directory. */
export function isSameDirectory(a: string, b: string): boolean {
  return a === b || realPath(a) === realPath(b);
}

/** Returns the name of a conversation's file. */
export function sessionFileName(id: string): string {
  return id + EXTENSION;
}

/** Returns the id that a file's name says, or `undefined` for another file. */
export function sessionIdOf(fileName: string): string | undefined {
  if (!fileName.endsWith(EXTENSION)) return undefined;
  const id = fileName.slice(0, -EXTENSION.length);
  return isSessionId(id) ? id : undefined;
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
