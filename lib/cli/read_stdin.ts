/**
 * A whole question or prompt from stdin.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import process from "node:process";
import { UsageError } from "../base/errors.ts";

/** Largest input in bytes. */
export const MAX_STDIN_BYTES = 4 * 1024 * 1024;

/**
 * Reads an input to its end.
 *
 * @param what what it is, for the messages: `question`.
 * @param input bytes. @default process.stdin
 * @throws {UsageError} when it is empty, too large, or not UTF-8.
 */
export async function readStdin(
  what: string,
  input: AsyncIterable<Uint8Array> = process.stdin,
): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of input) {
    bytes += piece.length;
    if (bytes > MAX_STDIN_BYTES) {
      throw new UsageError(
        `The ${what} on stdin is longer than ${MAX_STDIN_BYTES} bytes; ` +
          "put it into a file and name the file instead",
      );
    }
    pieces.push(piece);
  }
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(pieces));
  } catch (cause) {
    throw new UsageError(`The ${what} on stdin is not UTF-8 text`, { cause });
  }
  if (text.trim() === "") throw new UsageError(`The ${what} on stdin is empty`);
  return text;
}
