/**
 * The connection below the protocol library: it sees every message that comes and goes, and keeps
 * all that is sent in one order, whether the library sends it or mm itself.
 *
 * Updates do not pass through the library. It would check each of them twice against its schema,
 * hand them over asynchronously (a reply could overtake them) and print the ones it does not know.
 *
 * @module
 */
import { type AnyMessage, ndJsonStream, type Stream } from "@agentclientprotocol/sdk";
import { LineWriter } from "./line_writer.ts";

/** Options of {@linkcode openWire}. */
export interface WireOptions {
  readonly input: ReadableStream<Uint8Array>;
  readonly output: WritableStream<Uint8Array>;
  /** Whether lines that are no JSON are answered with an error, as an agent must. */
  readonly answerNoise: boolean;
  /** Sees each incoming message first; `true` keeps it from the library. */
  readonly intercept?: (message: AnyMessage) => boolean;
  /** Called when a message of the library has got its place in the order of what is sent. */
  readonly onSent?: (message: AnyMessage) => void;
  /** Called once, when the other side can no longer be written to. */
  readonly onBroken: (error: unknown) => void;
}

/** A connection that carries messages. */
export interface Wire {
  /** The end that the protocol library holds. */
  readonly stream: Stream;
  /**
   * Sends a message at once, after everything that was sent before.
   *
   * @throws {RangeError} when the message is too long for the other side to read.
   * @throws {Error} when the other side is gone.
   */
  send(message: AnyMessage): void;
  /** Waits until everything is written, or cannot be. */
  flushed(): Promise<void>;
}

/** Opens the connection on a pair of byte streams. */
export function openWire(options: WireOptions): Wire {
  const { input, output, answerNoise, intercept, onSent, onBroken } = options;
  const writer = new LineWriter({ output, onBroken });
  const decoder = new TextDecoder();
  // The library writes its answers to noise here; everything else it sends takes the writable below.
  const noiseAnswers = new WritableStream<Uint8Array>({
    write(bytes) {
      if (answerNoise) writer.appendLines(decoder.decode(bytes));
    },
  });
  const lines = ndJsonStream(noiseAnswers, input);
  const writable = new WritableStream<AnyMessage>({
    write(message) {
      writer.append(message);
      onSent?.(message);
    },
  });
  return {
    stream: {
      readable: intercept === undefined ? lines.readable : without(lines.readable, intercept),
      writable,
    },
    send: (message) => writer.append(message),
    flushed: () => writer.flushed(),
  };
}

/** Returns the messages that `intercept` does not take. */
function without(
  source: ReadableStream<AnyMessage>,
  intercept: (message: AnyMessage) => boolean,
): ReadableStream<AnyMessage> {
  const reader = source.getReader();
  return new ReadableStream<AnyMessage>({
    async pull(controller) {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return controller.close();
        if (!intercept(value)) return controller.enqueue(value);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
}
