/**
 * Reading the bytes of a body.
 *
 * A stream of many small packets is read into one buffer that is used again: where each read gets a
 * buffer of its own (64 KiB in Deno), making and collecting those takes most of the time.
 *
 * @module
 */

/** What a read gave; the bytes are valid until the next read only. */
export type ByteRead =
  | { readonly done: true }
  | { readonly done: false; readonly value: Uint8Array };

/** Reads a body. */
export interface ByteReader {
  read(): Promise<ByteRead>;
  /** Closes the body; a read that waits ends. */
  cancel(reason?: unknown): Promise<void>;
}

/** Bytes of the buffer. */
const BUFFER = 64 * 1024;

let supported: boolean | undefined;

/**
 * Whether bodies of this runtime can be read into a buffer. Bun refuses, and a body that was asked in
 * vain loses bytes there: so no real one is tried.
 */
export function readsIntoBuffer(): boolean {
  return supported ??= ownBuffer(new Blob(["x"]).stream()) !== undefined;
}

/** Locks a body and returns its reader. */
export function createByteReader(body: ReadableStream<Uint8Array>): ByteReader {
  return (readsIntoBuffer() ? ownBuffer(body) : undefined) ?? defaultReader(body);
}

/** Only streams of bytes can be read into a buffer. */
function ownBuffer(body: ReadableStream<Uint8Array>): ByteReader | undefined {
  let reader: ReadableStreamBYOBReader;
  try {
    reader = body.getReader({ mode: "byob" });
  } catch {
    return undefined;
  }
  let buffer = new ArrayBuffer(BUFFER);
  return {
    async read() {
      // A read that nobody waits for any more still holds the buffer.
      if (buffer.byteLength === 0) buffer = new ArrayBuffer(BUFFER);
      const view = new Uint8Array(buffer);
      const { done, value } = await reader.read(view);
      if (value !== undefined) buffer = value.buffer;
      return done || value === undefined ? { done: true } : { done: false, value };
    },
    cancel: (reason) => reader.cancel(reason),
  };
}

function defaultReader(body: ReadableStream<Uint8Array>): ByteReader {
  const reader = body.getReader();
  return {
    async read() {
      const { done, value } = await reader.read();
      return done ? { done } : { done, value };
    },
    cancel: (reason) => reader.cancel(reason),
  };
}
