/**
 * MCP over the stdin and stdout of a child that mm started: its group, its environment and its last
 * words on stderr are in mm's hands, which the SDK's own transport would keep to itself.
 *
 * @module
 */
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport";
// The package's wildcard export gives types only without the extension, and code only with it.
// @ts-types="@modelcontextprotocol/sdk/types"
import { type JSONRPCMessage, JSONRPCMessageSchema } from "@modelcontextprotocol/sdk/types.js";
import { oneLine } from "../base/cut.ts";
import type { Child } from "../platform/process.ts";
import { readLines } from "../platform/stdin_lines.ts";

/** Bytes one message may have. */
const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;

/** UTF-16 units of a line that is no message, for the explanation of a failure. */
const NOISE_UNITS = 200;

/** The messages of one child. */
export class ChildTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;
  /** The first line on stdout that was no message: a banner, an error. Servers print such things. */
  noise: string | undefined;
  readonly #child: Child;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #closed = false;

  /** Takes the streams of a child; nobody else may use them. */
  constructor(child: Child) {
    this.#child = child;
    this.#writer = child.stdin.getWriter();
    this.#reader = child.stdout.getReader();
    // Each write reports its own failure.
    this.#writer.closed.catch(() => {});
  }

  /** Begins to read. */
  start(): Promise<void> {
    void this.#read();
    return Promise.resolve();
  }

  /**
   * Sends a message.
   *
   * @throws {Error} when the child is gone.
   */
  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) throw new Error("the connection is closed");
    await this.#writer.write(new TextEncoder().encode(`${JSON.stringify(message)}\n`));
  }

  /** Ends the conversation; the child is ended by who started it. */
  close(): Promise<void> {
    if (!this.#closed) {
      this.#closed = true;
      this.#reader.cancel().catch(() => {});
      this.onclose?.();
    }
    return Promise.resolve();
  }

  async #read(): Promise<void> {
    try {
      for await (const line of readLines(this.#chunks(), { maxBytes: MAX_MESSAGE_BYTES })) {
        if (line.trim() !== "") this.#take(line);
      }
    } catch (error) {
      // A line without end: what follows cannot be told from its rest.
      this.onerror?.(error as Error);
      this.#child.kill();
    }
    await this.close();
  }

  async *#chunks(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const { value, done } = await this.#reader.read();
      if (done) return;
      yield value;
    }
  }

  #take(line: string): void {
    let message: JSONRPCMessage;
    try {
      message = JSONRPCMessageSchema.parse(JSON.parse(line));
    } catch {
      this.noise ??= oneLine(line, NOISE_UNITS);
      return;
    }
    this.onmessage?.(message);
  }
}
