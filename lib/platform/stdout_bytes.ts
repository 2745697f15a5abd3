/**
 * The standard output as a stream of bytes that never blocks this process.
 *
 * @module
 */
import process from "node:process";
import { setImmediate } from "node:timers";

/** What this file reads of Deno's own interface; absent on Node and Bun. */
interface DenoOutput {
  readonly stdout: { write(bytes: Uint8Array): Promise<number> };
}

/** Writes that the system has not taken yet. */
const pending = new Set<Promise<void>>();

/**
 * Returns the standard output as a stream with back-pressure. On Deno `process.stdout` writes
 * synchronously: a reader that stops reading would stop everything here, signals included. Through
 * this stream it stops only those who wait for their write. A write rejects when nobody reads any
 * more.
 */
export function stdoutBytes(): WritableStream<Uint8Array> {
  const deno = (globalThis as { readonly Deno?: DenoOutput }).Deno;
  return new WritableStream<Uint8Array>({
    async write(chunk) {
      const done = deno === undefined ? writeNode(chunk) : writeDeno(deno, chunk);
      pending.add(done);
      try {
        await done;
      } finally {
        pending.delete(done);
      }
    },
  });
}

/** Waits until the system took every write that was begun on {@linkcode stdoutBytes}; never rejects. */
export async function stdoutFlushed(): Promise<void> {
  do {
    await Promise.allSettled(pending);
    // The stream begins a write only some steps after it was asked to, or after the last one ended.
    await new Promise((resolve) => setImmediate(resolve));
  } while (pending.size > 0);
}

async function writeDeno({ stdout }: DenoOutput, chunk: Uint8Array): Promise<void> {
  let rest = chunk;
  while (rest.length > 0) rest = rest.subarray(await stdout.write(rest));
}

function writeNode(chunk: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(chunk, (error) => error ? reject(error) : resolve());
  });
}
