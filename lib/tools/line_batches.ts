/**
 * The lines of a text file, in batches, however large the file is.
 *
 * @module
 */
import { Buffer, isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { type Line, LineSplitter } from "./line_splitter.ts";
import type { TextEncoding } from "./sniff.ts";

/** Bytes read at once. */
const CHUNK_BYTES = 256 * 1024;

/** Options of {@linkcode lineBatches}. */
export interface LineBatchesOptions {
  readonly encoding: TextEncoding;
  /** UTF-16 units kept of a line; its true length is told. */
  readonly maxLine: number;
  readonly signal: AbortSignal;
  /** Takes the facts once the whole file was read. */
  readonly onEnd?: (facts: { readonly hash: string; readonly valid: boolean }) => void;
}

/**
 * Reads a file from its beginning and yields its lines, those of one chunk at a time. Memory stays
 * bounded by the chunk. The handle stays open.
 *
 * @throws the signal's reason when it is aborted.
 */
export async function* lineBatches(
  handle: FileHandle,
  options: LineBatchesOptions,
): AsyncGenerator<Line[], void> {
  const { signal } = options;
  const decoder = new TextDecoder(options.encoding);
  const splitter = new LineSplitter(options.maxLine);
  const hash = options.onEnd === undefined ? undefined : createHash("sha256");
  const validity = options.encoding === "utf-8" ? new Utf8Validity() : undefined;
  const buffer = new Uint8Array(CHUNK_BYTES);
  let position = 0;
  for (;;) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    const bytes = buffer.subarray(0, bytesRead);
    hash?.update(bytes);
    if (hash !== undefined) validity?.add(bytes);
    const lines = splitter.push(decoder.decode(bytes, { stream: true }));
    if (lines.length > 0) yield lines;
  }
  signal.throwIfAborted();
  const rest = splitter.push(decoder.decode());
  const last = splitter.end();
  if (last !== undefined) rest.push(last);
  if (hash !== undefined) {
    options.onEnd?.({ hash: hash.digest("hex"), valid: validity?.end() ?? true });
  }
  if (rest.length > 0) yield rest;
}

/** Says whether bytes that come in pieces are valid UTF-8. */
class Utf8Validity {
  #valid = true;
  #held: Uint8Array = new Uint8Array(0);

  add(bytes: Uint8Array): void {
    if (!this.#valid) return;
    const all = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes]);
    const whole = all.length - incompleteTail(all);
    this.#valid = isUtf8(all.subarray(0, whole));
    this.#held = all.slice(whole);
  }

  end(): boolean {
    return this.#valid && this.#held.length === 0;
  }
}

/** Returns how many bytes at the end are the beginning of a character whose rest is missing. */
function incompleteTail(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needs > back ? back : 0;
  }
  return 0;
}
