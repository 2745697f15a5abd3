/**
 * Finding the saved conversations: what can be said of each without reading the whole of it.
 *
 * @module
 */
import { open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { textLines } from "./line_blocks.ts";
import { parseEntry, parseHeader } from "./parse_record.ts";
import {
  isSameDirectory,
  isSessionId,
  projectDir,
  projectsDir,
  sessionFileName,
  sessionIdOf,
} from "./places.ts";
import { holderOf } from "./session_lock.ts";

/** Bytes at the beginning of a file in which its title is looked for. */
const HEAD_BYTES = 16 * 1024;

/** A saved conversation, as lists show it. */
export interface SavedSession {
  /** The conversation's id. */
  readonly id: string;
  /** Its working directory, absolute. */
  readonly cwd: string;
  /** The beginning of its first prompt; absent where the file does not tell. */
  readonly title?: string;
  /** When it was last written to, in milliseconds since 1970. */
  readonly updatedAt: number;
  /** Bytes of its file. */
  readonly size: number;
  /** Whether a process that runs has it open. */
  readonly open: boolean;
}

/** The file of a conversation. */
export interface SessionPlace {
  readonly id: string;
  /** The directory of its project's conversations. */
  readonly dir: string;
  readonly path: string;
  readonly updatedAt: number;
  readonly size: number;
}

/** Returns the files of a project's conversations, or of all projects', the newest first. */
export async function sessionPlaces(
  stateDir: string,
  cwd: string | undefined,
): Promise<SessionPlace[]> {
  const dirs = cwd === undefined ? await projectDirs(stateDir) : [projectDir(stateDir, cwd)];
  const found = await Promise.all(dirs.map(placesIn));
  return found.flat().sort(byAge);
}

/**
 * Returns the file of a conversation, whatever its project; `undefined` where there is none.
 *
 * @param id can come from a person or another program: only one of the known form is looked for.
 */
export async function sessionPlace(
  stateDir: string,
  id: string,
): Promise<SessionPlace | undefined> {
  if (!isSessionId(id)) return undefined;
  const dirs = await projectDirs(stateDir);
  const found = await Promise.all(dirs.map((dir) => placeOf(dir, sessionFileName(id))));
  return found.filter((place) => place !== undefined).sort(byAge)[0];
}

/** Returns what a list shows of a file; `undefined` for one that says nothing of itself. */
export async function describeSession(
  place: SessionPlace,
  cwd: string | undefined,
): Promise<SavedSession | undefined> {
  const head = await readHead(place.path).catch(() => undefined);
  const known = head?.cwd ?? cwd;
  if (head === undefined || known === undefined) return undefined;
  // Two projects share a directory only if the name of one was made by hand.
  if (cwd !== undefined && !isSameDirectory(known, cwd)) return undefined;
  const { id, updatedAt, size, dir, path } = place;
  return {
    id,
    cwd: known,
    ...(head.title === undefined ? {} : { title: head.title }),
    updatedAt,
    size,
    open: holderOf(dir, id, { file: path }) !== undefined,
  };
}

async function projectDirs(stateDir: string): Promise<string[]> {
  const projects = projectsDir(stateDir);
  return (await namesIn(projects)).map((name) => join(projects, name));
}

async function placesIn(dir: string): Promise<SessionPlace[]> {
  const places = await Promise.all((await namesIn(dir)).map((name) => placeOf(dir, name)));
  return places.filter((place) => place !== undefined);
}

async function placeOf(dir: string, name: string): Promise<SessionPlace | undefined> {
  const id = sessionIdOf(name);
  if (id === undefined) return undefined;
  const path = join(dir, name);
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || !found.isFile()) return undefined;
  return { id, dir, path, updatedAt: Math.round(found.mtimeMs), size: found.size };
}

/** The newest first. */
function byAge(a: SessionPlace, b: SessionPlace): number {
  return b.updatedAt - a.updatedAt || (a.id < b.id ? -1 : 1);
}

async function namesIn(dir: string): Promise<string[]> {
  // No directory: nothing was saved yet. One that cannot be read has nothing that could be shown.
  return await readdir(dir).catch(() => []);
}

async function readHead(
  path: string,
): Promise<{ readonly cwd: string | undefined; readonly title: string | undefined }> {
  const handle = await open(path, "r");
  try {
    const { bytesRead, buffer } = await handle.read(new Uint8Array(HEAD_BYTES), 0, HEAD_BYTES, 0);
    let cwd: string | undefined;
    for (const { text } of textLines(buffer.subarray(0, bytesRead))) {
      const value = parseJson(text);
      cwd ??= parseHeader(value)?.cwd;
      const entry = parseEntry(value);
      if (entry === undefined || entry === "unknown" || entry.type !== "title") continue;
      return { cwd, title: entry.title.toWellFormed() };
    }
    return { cwd, title: undefined };
  } finally {
    await handle.close();
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
