/**
 * The size of messages in tokens where the server does not count: characters divided by 3.5.
 *
 * @module
 */
import type { Message } from "../model/types.ts";

/** Characters (UTF-16 units) of a token, on average. */
export const CHARACTERS_PER_TOKEN = 3.5;

/** Returns the estimated tokens of a text. */
export function estimateTextTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/** Returns the estimated tokens of messages. */
export function estimateTokens(messages: readonly Message[]): number {
  let characters = 0;
  for (const message of messages) {
    characters += message.text.length;
    if (message.role === "assistant") {
      for (const call of message.toolCalls ?? []) {
        characters += call.name.length + call.arguments.length;
      }
    }
  }
  return estimateTextTokens(characters);
}
