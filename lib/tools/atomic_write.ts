/**
 * Replacing a file as a whole or not at all.
 *
 * @module
 */
import { randomUUID } from "node:crypto";
import type { Stats } from "node:fs";
import { chmod, chown, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Options of {@linkcode atomicWrite}. */
export interface AtomicWriteOptions {
  /** The file that is replaced: its mode bits and its owner are kept. */
  readonly like?: Stats;
  /** Last look before the file is put in place; what it throws stops the write. */
  readonly verify: () => Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * Writes to a new file in the same directory, brings it to the disk, then puts it in place of
 * `path`. Nobody sees a half-written file, and a failure leaves the old one and nothing else.
 * Other hard links to the old file keep the old content.
 *
 * @param path absolute, no symbolic link.
 * @throws the error of the system call that failed, or the signal's reason.
 */
export async function atomicWrite(
  path: string,
  bytes: Uint8Array,
  options: AtomicWriteOptions,
): Promise<void> {
  const { like, signal } = options;
  const temporary = join(dirname(path), `.mm-${randomUUID()}.tmp`);
  // While it is written, a copy of a private file must not be readable by others.
  const handle = await open(temporary, "wx", like === undefined ? 0o666 : like.mode & 0o700);
  try {
    try {
      await handle.writeFile(bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (like !== undefined) {
      await keepOwner(temporary, like);
      await chmod(temporary, like.mode & 0o7777);
    }
    await options.verify();
    signal.throwIfAborted();
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Only root may give files away; for everybody else the new file is their own, as in any editor. */
async function keepOwner(path: string, like: Stats): Promise<void> {
  try {
    await chown(path, like.uid, like.gid);
  } catch {
    // Not permitted, or no such notion on this system.
  }
}
