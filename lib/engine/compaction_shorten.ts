/**
 * The last resort where one round of calls alone does not fit the window: its results are cut in the
 * middle.
 *
 * @module
 */
import { cutMiddle } from "../base/cut.ts";
import type { Message } from "../model/types.ts";

/** Shortest result that is left of one, in UTF-16 units. */
const MIN_RESULT = 300;

/**
 * Returns the messages with their longest results of calls cut to one length, so that all results
 * together have at most so many UTF-16 units where that is possible.
 */
export function shortenResults(messages: readonly Message[], limit: number): Message[] {
  const lengths = messages.flatMap((message) =>
    message.role === "tool" ? [message.text.length] : []
  );
  const each = Math.max(MIN_RESULT, lengthWithin(lengths, limit));
  return messages.map((message) =>
    message.role === "tool" ? { ...message, text: cutMiddle(message.text, each).text } : message
  );
}

/** Returns the length to which the longest have to be cut so that the sum is within the limit. */
function lengthWithin(lengths: readonly number[], limit: number): number {
  const sorted = lengths.toSorted((a, b) => a - b);
  let left = limit;
  for (const [index, length] of sorted.entries()) {
    const share = Math.floor(left / (sorted.length - index));
    if (length > share) return share;
    left -= length;
  }
  return Infinity;
}
