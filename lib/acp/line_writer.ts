/**
 * Messages as lines of JSON, written in order and in as few writes as the reader's pace allows.
 *
 * @module
 */
import type { AnyMessage } from "@agentclientprotocol/sdk";
import { MAX_MESSAGE_BYTES } from "./limits.ts";

/** UTF-16 units that go out in one write. */
const BATCH = 1024 * 1024;

/** UTF-16 units that may wait for a reader that does not read. */
const MAX_WAITING = 128 * 1024 * 1024;

/** Options of {@linkcode LineWriter}. */
export interface LineWriterOptions {
  readonly output: WritableStream<Uint8Array>;
  /** Called once, when nothing can be written any more. */
  readonly onBroken: (error: unknown) => void;
}

/** Writes messages to a stream of bytes. */
export class LineWriter {
  readonly #output: WritableStream<Uint8Array>;
  readonly #onBroken: (error: unknown) => void;
  readonly #encoder = new TextEncoder();
  #waiting: string[] = [];
  #waitingUnits = 0;
  #pumping: Promise<void> | undefined;
  #broken: { readonly error: unknown } | undefined;

  /** Creates the writer; the stream stays open when the writer is no longer used. */
  constructor(options: LineWriterOptions) {
    this.#output = options.output;
    this.#onBroken = options.onBroken;
  }

  /**
   * Appends one message. It keeps its place before everything appended later.
   *
   * @throws {RangeError} when the message is too long for the other side to read.
   * @throws {Error} when the stream is broken.
   */
  append(message: AnyMessage): void {
    this.#push(encodeMessage(message) + "\n");
  }

  /** Appends lines that are complete already. */
  appendLines(lines: string): void {
    this.#push(lines);
  }

  /** Waits until everything appended so far is written, or cannot be. */
  async flushed(): Promise<void> {
    while (this.#pumping !== undefined) await this.#pumping;
  }

  #push(lines: string): void {
    if (this.#broken !== undefined) {
      throw new Error("Cannot write to the other side: it is gone", { cause: this.#broken.error });
    }
    this.#waiting.push(lines);
    this.#waitingUnits += lines.length;
    if (this.#waitingUnits > MAX_WAITING) {
      return this.#break(new Error("The other side does not read what it is sent"));
    }
    this.#pumping ??= this.#pump();
  }

  async #pump(): Promise<void> {
    try {
      // What is appended in the same turn of the event loop goes out together.
      await Promise.resolve();
      while (this.#waiting.length > 0) {
        const bytes = this.#encoder.encode(this.#take());
        // The lock is held for one write only, so that the owner can close the stream.
        const writer = this.#output.getWriter();
        try {
          await writer.write(bytes);
        } finally {
          writer.releaseLock();
        }
      }
    } catch (error) {
      this.#break(error);
    } finally {
      this.#pumping = undefined;
    }
  }

  #take(): string {
    let units = 0;
    let count = 0;
    while (count < this.#waiting.length && (count === 0 || units < BATCH)) {
      units += this.#waiting[count]?.length ?? 0;
      count += 1;
    }
    this.#waitingUnits -= units;
    return this.#waiting.splice(0, count).join("");
  }

  #break(error: unknown): void {
    if (this.#broken !== undefined) return;
    this.#broken = { error };
    this.#waiting = [];
    this.#waitingUnits = 0;
    this.#onBroken(error);
  }
}

/**
 * Returns a message as one line of JSON that every parser accepts.
 *
 * @throws {RangeError} when it is longer than the other side reads.
 */
function encodeMessage(message: AnyMessage): string {
  let line = JSON.stringify(message);
  // Half a surrogate pair is written as an escape that strict parsers refuse.
  if (line.includes("\\ud")) line = JSON.stringify(message, wellFormed);
  // A unit takes at most three bytes in UTF-8.
  if (line.length * 3 >= MAX_MESSAGE_BYTES && byteLength(line) >= MAX_MESSAGE_BYTES) {
    throw new RangeError(`Cannot send a message of ${line.length} characters: the limit is 32 MiB`);
  }
  return line;
}

function wellFormed(_key: string, value: unknown): unknown {
  return typeof value === "string" ? value.toWellFormed() : value;
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}
