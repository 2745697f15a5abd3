/**
 * The messages that are summarised, as one text of bounded length. Results of calls are shortened
 * first, for what matters of them stands in what was said afterwards; then long texts are; then the
 * oldest parts are left out, and a line says so.
 *
 * @module
 */
import { cutMiddle } from "../base/cut.ts";
import type { Message } from "../model/types.ts";
import { summaryLength } from "./compaction_cut.ts";
import { summaryIn } from "./compaction_words.ts";

/** UTF-16 units of one result or of one call's arguments, and of one text; the first that fits counts. */
const LEVELS: readonly { readonly results: number; readonly texts: number }[] = [
  { results: 4000, texts: Infinity },
  { results: 1000, texts: Infinity },
  { results: 250, texts: 4000 },
  { results: 100, texts: 1000 },
];

/** Share of the text that the summary of an earlier compression may take. */
const EARLIER_SHARE = 0.5;

/**
 * Returns the text.
 *
 * @param messages without the system message.
 * @param limit UTF-16 units.
 */
export function summaryTranscript(messages: readonly Message[], limit: number): string {
  const [first] = messages;
  const length = summaryLength(messages);
  const earlier = length === 0 || first === undefined
    ? ""
    : `Summary of what came before:\n${
      cutMiddle(summaryIn(first), Math.floor(limit * EARLIER_SHARE)).text
    }\n\n`;
  return earlier + partsWithin(messages.slice(length), limit - earlier.length);
}

function partsWithin(messages: readonly Message[], limit: number): string {
  let parts: string[] = [];
  for (const level of LEVELS) {
    parts = messages.map((message) => partOf(message, level));
    const text = parts.join("\n\n");
    if (text.length <= limit) return text;
  }
  const notice = (left: number) =>
    `[The oldest ${left} of ${parts.length} parts are left out here: they do not fit]`;
  let room = limit - notice(parts.length).length - 2;
  const kept: string[] = [];
  for (const part of parts.toReversed()) {
    if (part.length + 2 > room) {
      // The newest part says something also where it does not fit as a whole.
      if (kept.length === 0 && room > 0) kept.push(cutMiddle(part, room).text);
      break;
    }
    kept.unshift(part);
    room -= part.length + 2;
  }
  return [notice(parts.length - kept.length), ...kept].join("\n\n");
}

function partOf(message: Message, { results, texts }: (typeof LEVELS)[number]): string {
  switch (message.role) {
    case "system":
      return "";
    case "user": {
      const images = (message.images ?? []).map(() => "\n[an image]").join("");
      return `User: ${cutMiddle(message.text, texts).text}${images}`;
    }
    case "tool":
      return `Result of ${message.name}: ${cutMiddle(message.text, results).text}`;
    case "assistant": {
      const calls = (message.toolCalls ?? []).map((call) =>
        `Agent calls ${call.name}: ${cutMiddle(call.arguments, results).text}`
      );
      const text = message.text === "" ? [] : [`Agent: ${cutMiddle(message.text, texts).text}`];
      return [...text, ...calls].join("\n");
    }
  }
}
