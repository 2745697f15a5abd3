/**
 * How much of anything is sent. The other side closes the connection at one message of more than
 * 32 MiB (the SDK's default), so no message may come near it.
 *
 * @module
 */
import { cutMiddle } from "../base/cut.ts";

/** Bytes one message may have; the SDK's own limit for what it reads. */
export const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;

/**
 * UTF-16 units of one text, one argument list or one set of diffs in a message. In the worst case a
 * unit takes six bytes as JSON, and a message holds three such parts: 18 MiB.
 */
export const MAX_PART = 1024 * 1024;

/** UTF-16 units of a title. */
const MAX_TITLE = 10_000;

/** Returns `text`, cut in the middle with the facts where it is too long to send. */
export function boundText(text: string): string {
  return cutMiddle(text, MAX_PART).text;
}

/**
 * Control characters and marks of direction: an editor that draws in a terminal, and takes a title as it
 * is, would be led by them.
 */
// deno-lint-ignore no-control-regex -- they are what is looked for
const HIDDEN = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Returns a title that can be shown: a model may have written it. */
export function boundTitle(title: string): string {
  return cutMiddle(title, MAX_TITLE).text
    .replace(HIDDEN, (found) => `\\u{${found.charCodeAt(0).toString(16)}}`);
}

/** Returns arguments of a call, or what there is to say about them when they are too long. */
export function boundInput(input: unknown): unknown {
  const size = sizeOf(input);
  if (size <= MAX_PART) return input;
  return { leftOut: `arguments of ${size} characters` };
}

function sizeOf(input: unknown): number {
  try {
    return JSON.stringify(input)?.length ?? 0;
  } catch {
    // Not representable as JSON: it cannot be sent either.
    return Infinity;
  }
}
