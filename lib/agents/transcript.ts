/**
 * The transcript of a conversation that an asked agent gets: questions, answers, one line per tool
 * call. Never outputs of tools, the system prompt, or reasoning.
 *
 * @module
 */
import { oneLine } from "../base/cut.ts";
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
