/**
 * The transcript of a conversation that an asked agent gets: questions, answers, one line per tool
 * call. Never outputs of tools, the system prompt, or reasoning.
 *
 * @module
 */
import { cutMiddle, oneLine } from "../base/cut.ts";
import type { Message } from "../model/types.ts";

/** UTF-16 units of a tool call's line. */
const CALL_LINE_LENGTH = 120;

/** Returns the transcript, empty when nothing was said yet. */
export function transcriptOf(messages: readonly Message[]): string {
  const parts: string[] = [];
  for (const message of messages) {
    if (message.role === "user") parts.push(`User: ${message.text}`);
    if (message.role !== "assistant") continue;
    const lines = (message.toolCalls ?? []).map((call) =>
      `- ${call.name} ${oneLine(argumentsLine(call.arguments), CALL_LINE_LENGTH)}`.trimEnd()
    );
    if (message.text !== "") lines.unshift(`Assistant: ${message.text}`);
    parts.push(lines.join("\n"));
  }
  return parts.join("\n\n");
}

/** Returns a question together with the transcript, as it is sent to the asked agent. */
export function withTranscript(transcript: string, prompt: string): string {
  if (transcript.trim() === "") return prompt;
  return `The conversation so far, between a user and another agent:\n\n` +
    `<transcript>\n${transcript}\n</transcript>\n\n${prompt}`;
}

/** Characters of a token, as they are reckoned everywhere in mm. */
const CHARACTERS_PER_TOKEN = 3.5;

/** Share of the asked agent's window that the transcript and the question may take together. */
const WINDOW_SHARE = 0.5;

/** A turn begins where a user speaks. */
const TURN = /\n\n(?=User: )/u;

/**
 * Returns the end of a transcript that fits the asked agent's window together with the question: at
 * most half of the window, for its own prompt, tools and answer need the rest. The oldest turns are
 * left out first, with a line that says so; a last turn that is too long by itself loses its middle.
 *
 * @param window tokens; `undefined` where it is not known, and nothing is left out.
 */
export function fitTranscript(
  transcript: string,
  prompt: string,
  window: number | undefined,
): string {
  if (window === undefined) return transcript;
  const room = Math.max(
    0,
    Math.floor(window * CHARACTERS_PER_TOKEN * WINDOW_SHARE) - prompt.length,
  );
  if (transcript.length <= room) return transcript;
  const turns = transcript.split(TURN);
  const notice = (left: number) =>
    `[the first ${left} of ${turns.length} turns are left out: ` +
    `the window of the asked agent has no room for them]`;
  // The notice has to fit as well; its length is bounded by the longest number it can hold.
  const space = room - notice(turns.length).length - 2;
  let length = 0;
  let first = turns.length;
  while (first > 0) {
    const turn = turns[first - 1] ?? "";
    if (length + turn.length + 2 > space) break;
    length += turn.length + 2;
    first--;
  }
  if (first < turns.length) return [notice(first), ...turns.slice(first)].join("\n\n");
  const last = cutMiddle(turns.at(-1) ?? "", Math.max(0, space)).text;
  if (last.length > space) return room < notice(turns.length).length ? "" : notice(turns.length);
  return turns.length === 1 ? last : `${notice(turns.length - 1)}\n\n${last}`;
}

/** The values of a call's arguments, which say what it was about. */
function argumentsLine(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) {
      return Object.values(value).map((part) =>
        typeof part === "string" ? part : JSON.stringify(part)
      ).join(" ");
    }
  } catch {
    // The model wrote no valid JSON; the text itself says as much.
  }
  return text;
}
