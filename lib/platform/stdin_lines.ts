/**
 * Lines of an input.
 *
 * @module
 */

/** Options of {@linkcode readLines}. */
export interface ReadLinesOptions {
  /** Bytes one line may have. @default {4194304} */
  readonly maxBytes?: number;
}

const MAX_LINE_BYTES = 4 * 1024 * 1024;
const LF = 0x0a;

/**
 * Yields the lines of an input without their ends, which are `\n` or `\r\n` and nothing else:
 * `node:readline` also breaks at U+2028, which JSON leaves as it is. The last line needs no end.
 *
 * @param input bytes, such as `process.stdin`; strings are taken too.
 * @throws {Error} when a line is longer than the limit.
 */
export async function* readLines(
  input: AsyncIterable<Uint8Array | string>,
  options: ReadLinesOptions = {},
): AsyncGenerator<string, void, undefined> {
  const limit = options.maxBytes ?? MAX_LINE_BYTES;
  const encoder = new TextEncoder();
  let parts: Uint8Array[] = [];
  let length = 0;
  for await (const piece of input) {
    const chunk = typeof piece === "string" ? encoder.encode(piece) : piece;
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(LF, start);
      const part = chunk.subarray(start, end < 0 ? chunk.length : end);
      length += part.length;
      if (length > limit) {
        throw new Error(`Cannot read the input: a line is longer than ${limit} bytes`);
      }
      if (part.length > 0) parts.push(part);
      if (end < 0) break;
      yield lineOf(parts, length);
      parts = [];
      length = 0;
      start = end + 1;
    }
  }
  if (length > 0) yield lineOf(parts, length);
}

function lineOf(parts: readonly Uint8Array[], length: number): string {
  const bytes = parts.length === 1 && parts[0] !== undefined ? parts[0] : joined(parts, length);
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  return text.endsWith("\r") ? text.slice(0, -1) : text;
}

function joined(parts: readonly Uint8Array[], length: number): Uint8Array {
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
