/**
 * Line endings: recognising, unifying and keeping them.
 *
 * @module
 */

/** How a line ends. */
export type Eol = "\n" | "\r\n";

/** Returns the line ending when the whole text has only one kind, else `undefined`. */
export function eolOf(text: string): Eol | undefined {
  let crlf = 0;
  let lf = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
    if (text.charCodeAt(at - 1) === 0x0d) crlf++;
    else lf++;
    if (crlf > 0 && lf > 0) return undefined;
  }
  return crlf > 0 ? "\r\n" : lf > 0 ? "\n" : undefined;
}

/** Returns the text with every `\r\n` as `\n`. */
export function toLf(text: string): string {
  return text.includes("\r\n") ? text.replaceAll("\r\n", "\n") : text;
}

/** Returns the text with every line ending as `eol`. */
export function toEol(text: string, eol: Eol): string {
  const lf = toLf(text);
  return eol === "\n" ? lf : lf.replaceAll("\n", "\r\n");
}

/** A text with unified line endings that still knows the old ones. */
export class LfView {
  /** The text with `\n` only. Offsets are UTF-16 units of this text. */
  readonly text: string;
  readonly #original: string;
  /** Offsets of the line ends that were `\r\n`, ascending. */
  readonly #crlf: number[] = [];

  /** Unifies the line endings of `original`. */
  constructor(original: string) {
    this.#original = original;
    this.text = toLf(original);
    if (this.text.length === original.length) return;
    let removed = 0;
    for (let at = original.indexOf("\r\n"); at >= 0; at = original.indexOf("\r\n", at + 2)) {
      this.#crlf.push(at - removed);
      removed++;
    }
  }

  /** Returns the original text between two offsets. */
  original(from: number, to: number): string {
    return this.#original.slice(from + this.#crlfBefore(from), to + this.#crlfBefore(to));
  }

  /**
   * Returns the ending that lines put in place of the text between two offsets should have: that
   * of the lines replaced, else of the line before, else of the line after; `undefined` in a text
   * without line ends.
   */
  eolAt(from: number, to: number): Eol | undefined {
    const crlf = this.#crlfBefore(to) - this.#crlfBefore(from);
    let all = 0;
    for (let at = this.text.indexOf("\n", from); at >= 0 && at < to;) {
      all++;
      at = this.text.indexOf("\n", at + 1);
    }
    if (all > 0) return crlf * 2 >= all ? "\r\n" : "\n";
    const before = from === 0 ? -1 : this.text.lastIndexOf("\n", from - 1);
    const near = before >= 0 ? before : this.text.indexOf("\n", to);
    if (near < 0) return undefined;
    return this.#crlfBefore(near + 1) > this.#crlfBefore(near) ? "\r\n" : "\n";
  }

  /** Number of `\r\n` that stand before an offset, by bisection. */
  #crlfBefore(offset: number): number {
    let low = 0;
    let high = this.#crlf.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#crlf[middle] ?? 0) < offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
