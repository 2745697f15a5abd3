/**
 * The beginning and the end of an output of any length, in bounded memory.
 *
 * @module
 */
import { headOf, tailOf } from "../base/cut.ts";

/** Shorter pieces are joined, so that an output of single characters does not become a long list. */
const MIN_PIECE = 4096;

/**
 * Keeps the first and the last part of a text that arrives in pieces. Pieces must not be cut inside
 * a surrogate pair, which is what a streaming `TextDecoder` guarantees.
 */
export class OutputBuffer {
  readonly #keep: number;
  readonly #headBudget: number;
  readonly #tailBudget: number;
  #head = "";
  #headFull = false;
  #tail: string[] = [];
  #tailLength = 0;
  #total = 0;

  /**
   * Creates an empty buffer.
   *
   * @param keep UTF-16 units to keep, half of them from the beginning.
   */
  constructor(keep: number) {
    this.#keep = Math.max(0, Math.floor(keep));
    this.#headBudget = Math.ceil(this.#keep / 2);
    this.#tailBudget = this.#keep - this.#headBudget;
  }

  /** UTF-16 units that were pushed in all. */
  get total(): number {
    return this.#total;
  }

  /** Adds a piece. */
  push(text: string): void {
    this.#total += text.length;
    let rest = text;
    if (!this.#headFull) {
      const room = this.#headBudget - this.#head.length;
      const part = headOf(text, room);
      this.#head += part;
      rest = text.slice(part.length);
      // Closed for good once anything went past it: a later piece must not fill the unit that a
      // surrogate pair left free.
      this.#headFull = rest !== "";
    }
    if (rest !== "") this.#pushTail(rest);
  }

  /**
   * Returns what was kept, at most `keep` UTF-16 units. Where something was left out, a line in
   * between says how much of how much; that line counts toward the limit, and stands alone where
   * the limit has no room for more.
   */
  text(): string {
    const tail = this.#tail.join("");
    if (this.#total <= this.#keep) return this.#head + tail;
    // Measured with the longest number it can hold, as the cut itself decides the number.
    const room = Math.max(0, this.#keep - this.#notice(this.#total).length);
    const first = headOf(this.#head, Math.ceil(room / 2));
    const last = tailOf(tail, room - first.length);
    return first + this.#notice(this.#total - first.length - last.length) + last;
  }

  #notice(omitted: number): string {
    return `\n[... ${omitted} of ${this.#total} characters left out ...]\n`;
  }

  #pushTail(text: string): void {
    const last = this.#tail.at(-1);
    if (last !== undefined && last.length < MIN_PIECE) {
      this.#tail[this.#tail.length - 1] = last + text;
    } else {
      this.#tail.push(text);
    }
    this.#tailLength += text.length;
    // One unit more than the budget, for a text that just fits but whose head gave up half a pair.
    const limit = this.#tailBudget + 1;
    while (this.#tailLength > limit) {
      const first = this.#tail[0] ?? "";
      const excess = this.#tailLength - limit;
      if (first.length <= excess) {
        this.#tail.shift();
        this.#tailLength -= first.length;
        continue;
      }
      // Cutting inside a piece copies it; pieces are let grow to twice the limit before that.
      if (first.length < 2 * limit && this.#tail.length > 1) break;
      const kept = tailOf(first, first.length - excess);
      this.#tailLength -= first.length - kept.length;
      this.#tail[0] = kept;
      break;
    }
  }
}
