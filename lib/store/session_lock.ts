/**
 * Who has a conversation open. A lock is an empty file beside the conversation's whose name says the
 * process, so that taking one, and finding that its owner is gone, needs no file to be changed: two
 * processes cannot both believe they have it.
 *
 * @module
 */
import { closeSync, openSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { isRunning, ownIdentity, type ProcessIdentity } from "../platform/process_identity.ts";

/**
 * A lock of another machine (a container, a shared home) cannot be checked. It counts for this many
 * milliseconds after its conversation was last written to.
 */
const FOREIGN_MS = 3_600_000;

/** A lock that is held. */
export interface SessionLock {
  /** Gives it back. */
  release(): void;
}

/** Whoever holds a lock. */
export interface LockHolder {
  readonly pid: number;
  /** The name of its machine, where that is another one. */
  readonly host?: string;
}

/** What {@linkcode lockSession} found. */
export type LockResult =
  | { readonly lock: SessionLock }
  | { readonly holder: LockHolder };

/**
 * Takes the lock of a conversation. Locks of processes that are gone are removed.
 *
 * @param dir the directory of the conversation's file.
 * @param file the conversation's file, for the time it was last written to.
 * @throws {Error} of the file system, when the directory cannot be written to.
 */
export function lockSession(dir: string, id: string, file: string): LockResult {
  const own = join(dir, lockName(id, ownIdentity()));
  try {
    // Taken first and looked around then: of two that do it at once, at least one sees the other.
    closeSync(openSync(own, "wx", 0o600));
  } catch (error) {
    if ((error as { readonly code?: string }).code !== "EEXIST") throw error;
    return { holder: { pid: ownIdentity().pid } };
  }
  const holder = holderOf(dir, id, { file, besides: own });
  if (holder === undefined) return { lock: { release: () => remove(own) } };
  remove(own);
  return { holder };
}

/** Returns who has a conversation open, or `undefined`. */
export function holderOf(
  dir: string,
  id: string,
  options: { readonly file: string; readonly besides?: string },
): LockHolder | undefined {
  for (const name of names(dir)) {
    const identity = identityOf(id, name);
    const path = join(dir, name);
    if (identity === undefined || path === options.besides) continue;
    const running = isRunning(identity);
    const { pid, host } = identity;
    if (running === true) return { pid };
    if (running === "unknown" && isFresh(options.file)) return { pid, host };
    remove(path);
  }
  return undefined;
}

function lockName(id: string, { pid, start, host }: ProcessIdentity): string {
  return `${id}.${pid}_${encodeURIComponent(start)}_${
    encodeURIComponent(host).replaceAll("_", "%5F")
  }.lock`;
}

function identityOf(id: string, name: string): ProcessIdentity | undefined {
  if (!name.startsWith(`${id}.`)) return undefined;
  const match = /^(\d+)_([^/]*)_([^/_]*)\.lock$/u.exec(name.slice(id.length + 1));
  if (match === null) return undefined;
  try {
    return {
      pid: Number(match[1]),
      start: decodeURIComponent(match[2] ?? ""),
      host: decodeURIComponent(match[3] ?? ""),
    };
  } catch {
    return undefined;
  }
}

function names(dir: string): string[] {
  try {
    return readdirSync(dir).filter((name) => name.endsWith(".lock"));
  } catch {
    return [];
  }
}

function isFresh(file: string): boolean {
  try {
    return Date.now() - statSync(file).mtimeMs < FOREIGN_MS;
  } catch {
    return false;
  }
}

function remove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // It says of a process that is gone, or soon is, that it is: whoever looks removes it.
  }
}
