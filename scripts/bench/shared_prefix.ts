/**
 * What two requests to a model have in common at their beginning: as much a server that keeps the
 * beginning of a request does not read again.
 *
 * @module
 */
import { Buffer } from "node:buffer";

/** A request, as chat completions have it. */
export interface ChatBody {
  readonly tools?: readonly unknown[];
  readonly messages?: readonly unknown[];
}

/** How much of a request another one begins with. */
export interface SharedPrefix {
  /** Bytes that both begin with. */
  readonly bytes: number;
  /** Bytes of the first request. */
  readonly of: number;
}

/**
 * Compares the beginnings of two requests. Chat templates put the tools in front of the messages, so
 * where the tools differ, nothing after them is shared.
 *
 * @param part what is compared: all of it, or the messages alone, for a template that has the tools
 *   elsewhere.
 */
export function sharedPrefix(
  first: ChatBody,
  second: ChatBody,
  part: "tools and messages" | "messages",
): SharedPrefix {
  const [a, b] = [bytesOf(first, part), bytesOf(second, part)];
  let bytes = 0;
  while (bytes < a.length && bytes < b.length && a[bytes] === b[bytes]) bytes++;
  return { bytes, of: a.length };
}

/** Each message has a line, so that the next one does not change the bytes before it. */
function bytesOf({ tools = [], messages = [] }: ChatBody, part: string): Uint8Array {
  const lines = messages.map((message) => `${JSON.stringify(message)}\n`);
  const head = part === "messages" ? "" : `${JSON.stringify(tools)}\n`;
  return Buffer.from(head + lines.join(""));
}
