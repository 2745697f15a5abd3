/**
 * Lines from pieces of text, with bounded memory.
 *
 * @module
 */
import { headOf } from "../base/cut.ts";

/** A line without its end. */
export interface Line {
  /** At most as long as was asked for. */
  readonly text: string;
  /** UTF-16 units the whole line has. */
  readonly length: number;
}

/** Splits text that comes in pieces at `\n` or `\r\n`. Of a longer line only the beginning is kept. */
export class LineSplitter {
  readonly #maxLine: number;
  readonly #separator: string;
  #kept = "";
  #length = 0;
  /** Whether the part read so far ends with `\r`, which may belong to the line's end. */
  #endsWithCr = false;
  #started = false;

  /**
   * @param maxLine UTF-16 units kept of a line.
   * @param separator what ends a line.
   */
  constructor(maxLine: number, separator = "\n") {
    this.#maxLine = maxLine;
    this.#separator = separator;
  }

  /** Takes a piece and returns the lines that it completed. */
  push(piece: string): Line[] {
    const lines: Line[] = [];
    let from = 0;
    for (;;) {
      const end = piece.indexOf(this.#separator, from);
      if (end < 0) break;
      this.#take(piece, from, end);
      lines.push(this.#finish());
      from = end + 1;
    }
    if (from < piece.length) this.#take(piece, from, piece.length);
    return lines;
  }

  /** Returns the last line when it has no end; `undefined` when nothing is left. */
  end(): Line | undefined {
    return this.#started ? this.#finish(false) : undefined;
  }

  #take(piece: string, from: number, to: number): void {
    this.#started = true;
    if (to === from) return;
    const room = this.#maxLine - this.#kept.length;
    // One more than there is room for, so that `headOf` sees a pair that would be split.
    if (room >= 0) this.#kept += piece.slice(from, Math.min(to, from + room + 1));
    this.#length += to - from;
    this.#endsWithCr = piece.charCodeAt(to - 1) === 0x0d;
  }

  #finish(ended = true): Line {
    const crlf = ended && this.#endsWithCr && this.#separator === "\n";
    const length = crlf ? this.#length - 1 : this.#length;
    const text = headOf(this.#kept, Math.min(length, this.#maxLine));
    this.#kept = "";
    this.#length = 0;
    this.#endsWithCr = false;
    this.#started = false;
    return { text, length };
  }
}
