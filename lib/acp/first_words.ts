/**
 * The beginning of what a program prints, for the message that says it is no agent.
 *
 * @module
 */
import { oneLine } from "../base/cut.ts";

/** Bytes that are kept. */
const KEPT = 400;

/** UTF-16 units that are shown. */
const SHOWN = 200;

/** Passes a program's output on and keeps its beginning. */
export class FirstWords {
  /** The same bytes, for whoever reads on. */
  readonly stream: ReadableStream<Uint8Array>;
  #bytes: Uint8Array[] | undefined = [];
  #size = 0;

  /** Takes over a program's output. */
  constructor(source: ReadableStream<Uint8Array>) {
    const reader = source.getReader();
    this.stream = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const { value, done } = await reader.read();
        if (done) return controller.close();
        if (this.#bytes !== undefined && this.#size < KEPT) {
          this.#bytes.push(value);
          this.#size += value.length;
        }
        controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    }, { highWaterMark: 0 });
  }

  /** What was printed so far, as one line; empty when nothing was. */
  text(): string {
    const decoder = new TextDecoder();
    const parts = this.#bytes ?? [];
    return oneLine(parts.map((part) => decoder.decode(part, { stream: true })).join(""), SHOWN);
  }

  /** Forgets what was kept; the bytes go on flowing. */
  stop(): void {
    this.#bytes = undefined;
  }
}
