/**
 * What a session has seen of files, so that an edit never goes through a stale view.
 *
 * @module
 */

/** The state of a file when it was read or written. A `Stats` of `node:fs` is one. */
export interface FileState {
  /** Milliseconds; some runtimes know no finer unit, which is why there is a hash. */
  readonly mtimeMs: number;
  /** Bytes. */
  readonly size: number;
  /** Hash of the whole content, where the whole was read. */
  readonly hash?: string;
}

/** A file as a session knows it, for another session that knows the same. */
export interface SeenFile extends FileState {
  /** The real path, absolute. */
  readonly path: string;
}

/** Files that are told to another session: those that were seen last. */
export const MAX_SEEN_FILES = 500;

/** Remembers the files a session has read. */
export class FileViews {
  readonly #views = new Map<string, FileState>();

  /** Begins with what another session has seen. */
  constructor(files: readonly SeenFile[] = []) {
    for (const { path, ...state } of files) this.seen(path, state);
  }

  /** The files that were seen last, the last one last. */
  get files(): readonly SeenFile[] {
    return [...this.#views].slice(-MAX_SEEN_FILES).map(([path, state]) => ({ path, ...state }));
  }

  /**
   * Notes that the session knows the file as it is now.
   *
   * @param path the real path, symbolic links followed, so that a file has one view.
   */
  seen(path: string, state: FileState): void {
    const { mtimeMs, size, hash } = state;
    this.#views.delete(path);
    this.#views.set(path, { mtimeMs, size, ...(hash === undefined ? {} : { hash }) });
  }

  /**
   * Says whether the file is unknown, as it was seen, or changed since. Where both hashes are known
   * they decide: a `touch` is no change, and a change within one tick of the clock is one.
   */
  state(path: string, now: FileState): "unseen" | "current" | "changed" {
    const view = this.#views.get(path);
    if (view === undefined) return "unseen";
    const same = view.hash !== undefined && now.hash !== undefined
      ? view.hash === now.hash
      : view.mtimeMs === now.mtimeMs && view.size === now.size;
    return same ? "current" : "changed";
  }
}
