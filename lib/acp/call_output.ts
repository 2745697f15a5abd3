/**
 * What a running call has produced so far, as a person follows it: the end of it, bounded.
 *
 * @module
 */
import { tailOf } from "../base/cut.ts";

/** UTF-16 units that are kept and shown while a call runs. */
export const OUTPUT_TAIL = 64 * 1024;

/** Collects the pieces of one call's output. */
export class CallOutput {
  #tail = "";
  #total = 0;
  #inThought = false;

  /** Appends a piece. Thoughts are set apart as a quotation. */
  append(piece: string, thought = false): void {
    if (piece === "") return;
    let text = piece;
    if (thought) text = text.replaceAll("\n", "\n> ");
    if (thought !== this.#inThought) {
      const gap = this.#total === 0 ? "" : "\n\n";
      text = `${gap}${thought ? "> " : ""}${text}`;
      this.#inThought = thought;
    }
    this.#total += text.length;
    this.#tail += text;
    // Cut seldom, so that many small pieces cost little.
    if (this.#tail.length > OUTPUT_TAIL * 2) this.#tail = tailOf(this.#tail, OUTPUT_TAIL);
  }

  /** The end of the output; where something is left out, the first line says how much. */
  text(): string {
    const shown = tailOf(this.#tail, OUTPUT_TAIL);
    const leftOut = this.#total - shown.length;
    return leftOut === 0 ? shown : `[... ${leftOut} characters before this left out ...]\n${shown}`;
  }
}
