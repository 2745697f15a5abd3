/**
 * Text of this process on its standard output and its standard error.
 *
 * @module
 */
import process from "node:process";
import type { Writable } from "node:stream";

/**
 * Streams that failed while they wrote. What is written to one of them afterwards is never taken, and
 * nothing tells of it.
 */
const failed = new WeakSet<Writable>();

/** The last text written to a stream, until the system took it. */
const underWay = new WeakMap<Writable, Promise<void>>();

/**
 * Writes to a standard stream. A failure reaches the listeners of its `error` event, whether the
 * runtime reports it so or throws: Deno throws where the output is a file on a full disk, and leaves
 * the stream in the middle of that write.
 */
export function writeText(name: "stdout" | "stderr", text: string): void {
  const stream = process[name];
  if (failed.has(stream)) return;
  let taken = () => {};
  try {
    underWay.set(stream, new Promise((resolve) => taken = resolve));
    stream.write(text, () => taken());
  } catch (thrown) {
    failed.add(stream);
    taken();
    stream.emit("error", thrown);
  }
}

/** Waits until the system took what was written to a stream; at once when it takes nothing more. */
export async function textFlushed(stream: Writable): Promise<void> {
  if (failed.has(stream) || stream.destroyed || stream.writableEnded) return;
  await new Promise<void>((resolve) => {
    stream.once("error", () => resolve());
    // Bun calls back for an empty text while a long one before it still waits for its reader.
    const before = underWay.get(stream) ?? Promise.resolve();
    void before.then(() => stream.write("", () => resolve()));
  });
}

const WORDS: Readonly<Record<string, string>> = {
  EBADF: "the standard output is closed",
  EDQUOT: "the disk quota is used up",
  EFBIG: "the file would be too large",
  ENOSPC: "no space left on the device",
};

/** Returns why an output could not be written, as a sentence without a final period. */
export function outputFailure(error: Error & { readonly code?: string }): string {
  return `Cannot write the answer: ${WORDS[error.code ?? ""] ?? error.message}`;
}
