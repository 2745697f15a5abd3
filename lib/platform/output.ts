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

/**
 * Writes to a standard stream. A failure reaches the listeners of its `error` event, whether the
 * runtime reports it so or throws: Deno throws where the output is a file on a full disk, and leaves
 * the stream in the middle of that write.
 */
export function writeText(name: "stdout" | "stderr", text: string): void {
  const stream = process[name];
  if (failed.has(stream)) return;
  try {
    stream.write(text);
  } catch (thrown) {
    failed.add(stream);
    stream.emit("error", thrown);
  }
}

/** Waits until the system took what was written to a stream; at once when it takes nothing more. */
export function textFlushed(stream: Writable): Promise<void> {
  if (failed.has(stream) || stream.destroyed || stream.writableEnded) return Promise.resolve();
  return new Promise((resolve) => {
    stream.once("error", () => resolve());
    stream.write("", () => resolve());
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
