/**
 * The file of one conversation, open for adding to it.
 *
 * A line is handed to the system before the call returns: whatever kills this process afterwards, the
 * line is kept. That costs microseconds, for the system writes to the disk later; `sync` is what waits
 * for the disk.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { closeSync, fdatasync, fstatSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { within } from "../base/within.ts";

const NEWLINE = 10;

/** A conversation's file. */
export class SessionFile {
  readonly path: string;
  readonly #fd: number;
  /** Bytes that are whole lines. */
  #size: number;
  #syncing: Promise<void> = Promise.resolve();
  #closed = false;

  /** Use {@linkcode SessionFile.create} or {@linkcode SessionFile.open}. */
  constructor(path: string, fd: number) {
    this.path = path;
    this.#fd = fd;
    this.#size = fstatSync(fd).size;
  }

  /**
   * Creates the file.
   *
   * @throws {Error} of the file system: also when there is a file, or a link, of this name.
   */
  static create(path: string): SessionFile {
    return new SessionFile(path, openSync(path, "ax", 0o600));
  }

  /**
   * Opens a file that was repaired: its last line is whole.
   *
   * @throws {Error} of the file system.
   */
  static open(path: string): SessionFile {
    return new SessionFile(path, openSync(path, "a", 0o600));
  }

  /**
   * Adds lines.
   *
   * @param text each line with its newline.
   * @throws {Error} of the file system; what was written of the lines is then taken back.
   */
  append(text: string): void {
    const bytes = Buffer.from(text, "utf8");
    if (bytes.length === 0) return;
    if (bytes[bytes.length - 1] !== NEWLINE) throw new Error("A line has to end");
    try {
      for (let done = 0; done < bytes.length;) done += writeSync(this.#fd, bytes, done);
    } catch (error) {
      this.#takeBack();
      throw error;
    }
    this.#size += bytes.length;
  }

  /** Waits until the disk has what was added so far. Never rejects: the lines are written already. */
  sync(): Promise<void> {
    if (this.#closed) return this.#syncing;
    this.#syncing = this.#syncing.then(() =>
      new Promise((resolve) => fdatasync(this.#fd, () => resolve()))
    );
    return this.#syncing;
  }

  /** Waits for the disk, no longer than `limitMs` milliseconds, and closes the file. */
  async close(limitMs: number): Promise<void> {
    if (this.#closed) return;
    const synced = this.sync();
    this.#closed = true;
    await within(synced, limitMs);
    // Closing under a disk that still writes would wait for it.
    void synced.then(() => closeSync(this.#fd));
  }

  #takeBack(): void {
    try {
      ftruncateSync(this.#fd, this.#size);
    } catch {
      // Half a line stays at the end; it is found when the file is loaded.
    }
  }
}
