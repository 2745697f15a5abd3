/**
 * What a program writes, kept within bounds.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { Readable } from "node:stream";
import { tailOf } from "../base/cut.ts";

/** UTF-16 units of a program's stderr that are kept, from its end, where it says why it failed. */
const TAIL_UNITS = 4000;

/** Options of {@linkcode collectText}. */
export interface CollectTextOptions {
  /** Bytes that are kept at most. */
  readonly maxBytes: number;
  /** Told when there are more; they are not kept. */
  readonly onTooMuch: () => void;
}

/** Collects a stream from its beginning; returns a function that gives its text so far. */
export function collectText(stream: Readable | null, options: CollectTextOptions): () => string {
  const { maxBytes, onTooMuch } = options;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  stream?.on("data", (chunk: Uint8Array) => {
    bytes += chunk.length;
    if (bytes > maxBytes) return onTooMuch();
    chunks.push(chunk);
  });
  stream?.on("error", () => {});
  return () => Buffer.concat(chunks).toString("utf8");
}

/**
 * Keeps the end of a stream; returns a function that gives it, at most 4000 UTF-16 units. Reading never
 * stops, or the program would.
 */
export function keepTail(stream: Readable | null): () => string {
  const decoder = new TextDecoder();
  let text = "";
  stream?.on("data", (chunk: Uint8Array) => {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > 2 * TAIL_UNITS) text = tailOf(text, TAIL_UNITS);
  });
  stream?.on("error", () => {});
  return () => tailOf(text, TAIL_UNITS);
}
