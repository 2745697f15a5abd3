/**
 * Reading a file of lines piece by piece, so that a long one needs little memory beside what is made of
 * it.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { open } from "node:fs/promises";

/** Bytes that are read at once. */
const CHUNK = 1024 * 1024;

const NEWLINE = 10;

/**
 * Yields the file in blocks of whole lines, each with its newlines; only the last block may end
 * without one. A block is good until the next one is asked for: all share their memory.
 *
 * @throws {Error} of the file system.
 */
export async function* lineBlocks(path: string): AsyncGenerator<Uint8Array> {
  const handle = await open(path, "r");
  try {
    let buffer = Buffer.allocUnsafe(CHUNK);
    /** Bytes at the beginning of the buffer: of a line whose end was not read yet. */
    let begun = 0;
    for (;;) {
      const { bytesRead } = await handle.read(buffer, begun, buffer.length - begun, null);
      if (bytesRead === 0) break;
      const size = begun + bytesRead;
      const end = buffer.lastIndexOf(NEWLINE, size - 1) + 1;
      if (end > 0) yield buffer.subarray(0, end);
      if (end === 0 && size === buffer.length) {
        // A line that is longer than the buffer.
        const longer = Buffer.allocUnsafe(2 * buffer.length);
        buffer.copy(longer, 0, 0, size);
        buffer = longer;
      } else {
        buffer.copyWithin(0, end, size);
      }
      begun = size - end;
    }
    if (begun > 0) yield buffer.subarray(0, begun);
  } finally {
    await handle.close();
  }
}

/** A line as text. */
export interface TextLine {
  readonly text: string;
  /** Whether its bytes were UTF-8; where they were not, `text` has U+FFFD in their place. */
  readonly utf8: boolean;
  /** Whether it had its newline. */
  readonly ended: boolean;
}

/** Returns the lines of a block. */
export function textLines(block: Uint8Array): TextLine[] {
  const whole = decode(block);
  if (whole !== undefined) {
    const texts = whole.split("\n");
    const rest = texts.pop() ?? "";
    const lines = texts.map((text) => ({ text, utf8: true, ended: true }));
    if (rest !== "") lines.push({ text: rest, utf8: true, ended: false });
    return lines;
  }
  // Something in it is no UTF-8: find out which lines.
  return byteLines(block).map((line) => {
    const ended = line.at(-1) === NEWLINE;
    const bytes = ended ? line.subarray(0, -1) : line;
    const text = decode(bytes);
    return { text: text ?? new TextDecoder().decode(bytes), utf8: text !== undefined, ended };
  });
}

/** Returns the lines of a block as bytes, each with its newline. */
export function byteLines(block: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = [];
  for (let start = 0; start < block.length;) {
    const at = block.indexOf(NEWLINE, start);
    const end = at < 0 ? block.length : at + 1;
    lines.push(block.subarray(start, end));
    start = end;
  }
  return lines;
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decode(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}
