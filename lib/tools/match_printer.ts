/**
 * Matches with the lines around them.
 *
 * @module
 */
import type { GrepSink } from "./grep_search.ts";
import type { Line } from "./line_splitter.ts";

/** Prints the matches of one file with the lines around them, across the borders of batches. */
export class MatchPrinter {
  readonly #path: string;
  readonly #context: number;
  readonly #sink: GrepSink;
  /** The last lines that were not printed. */
  #before: { number: number; line: Line }[] = [];
  /** Lines still to print after a match. */
  #after = 0;

  /**
   * @param path of the file.
   * @param context lines printed before and after a match.
   */
  constructor(path: string, context: number, sink: GrepSink) {
    this.#path = path;
    this.#context = context;
    this.#sink = sink;
  }

  /**
   * Prints the matches in a batch of lines.
   *
   * @param numberBefore the number of lines in the batches before.
   * @param found the indexes of the lines that match, ascending.
   * @returns false when the sink wants no more.
   */
  print(lines: readonly Line[], numberBefore: number, found: readonly number[]): boolean {
    let next = 0;
    for (const [index, line] of lines.entries()) {
      const number = numberBefore + index + 1;
      if (found[next] === index) {
        next++;
        for (const context of this.#before) {
          if (!this.#sink.line(this.#path, context.number, context.line, false)) return false;
        }
        this.#before = [];
        if (!this.#sink.line(this.#path, number, line, true)) return false;
        this.#after = this.#context;
      } else if (this.#after > 0) {
        this.#after--;
        if (!this.#sink.line(this.#path, number, line, false)) return false;
      } else if (this.#context > 0) {
        this.#before.push({ number, line });
        if (this.#before.length > this.#context) this.#before.shift();
      }
    }
    return true;
  }
}
