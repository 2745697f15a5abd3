/**
 * Bytes to events: server-sent events, as servers really write them.
 *
 * @module
 */
import { createParser } from "eventsource-parser";

/** What an event reader reports. */
export interface EventReaderOptions {
  /** The data of one event and its type, where it has one. */
  readonly onData: (data: string, event: string | undefined) => void;
  /** A comment: a sign of life. */
  readonly onComment: () => void;
  /** Most UTF-16 units one event may have. @default {16 MiB} */
  readonly maxEvent?: number;
}

/** Takes the bytes of a stream. */
export interface EventReader {
  /**
   * Takes the next bytes, however they were cut.
   *
   * @throws {RangeError} when one event is larger than the limit.
   */
  feed(bytes: Uint8Array): void;
  /** Says that no more bytes come; an event without its final blank line still counts. */
  end(): void;
}

const MAX_EVENT = 16 * 1024 * 1024;

/** Creates a reader of server-sent events. It keeps at most one unfinished event in memory. */
export function createEventReader(options: EventReaderOptions): EventReader {
  const max = options.maxEvent ?? MAX_EVENT;
  let tooLarge = false;
  const parser = createParser({
    maxBufferSize: max,
    onEvent: (event) => options.onData(event.data, event.event),
    onComment: () => options.onComment(),
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") tooLarge = true;
      // llama.cpp once wrote its errors as a field of its own: "error: {...}".
      else if (error.field === "error") options.onData(error.value ?? "", "error");
    },
  });
  const decoder = new TextDecoder();
  const check = () => {
    if (tooLarge) throw new RangeError(`One event is larger than ${max} characters`);
  };
  return {
    feed(bytes) {
      check();
      parser.feed(decoder.decode(bytes, { stream: true }));
      check();
    },
    end() {
      check();
      const rest = decoder.decode();
      // A last line without its line break, and a last event without its blank line.
      parser.feed(rest + "\n\n");
      check();
    },
  };
}
