/**
 * What a session has seen of files, so that an edit never goes through a stale view.
 *
 * @module
 */

/** The state of a file when it was read or written. */
interface View {
  readonly mtimeMs: number;
  readonly size: number;
}

/** Remembers the files a session has read. */
export class FileViews {
  readonly #views = new Map<string, View>();

  /** Notes that the session knows the file as it is now. */
  seen(path: string, stat: View): void {
    this.#views.set(path, { mtimeMs: stat.mtimeMs, size: stat.size });
  }

  /** Says whether the file is unknown, as it was seen, or changed since. */
  state(path: string, stat: View): "unseen" | "current" | "changed" {
    const view = this.#views.get(path);
    if (view === undefined) return "unseen";
    return view.mtimeMs === stat.mtimeMs && view.size === stat.size ? "current" : "changed";
  }
}
