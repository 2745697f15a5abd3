/**
 * How much of a conversation a fork of it knows.
 *
 * @module
 */
import { isSummary, requestAfterSummary } from "../engine/compaction_words.ts";
import { summaryLength } from "../engine/compaction_cut.ts";
import { REPAIR_MARK } from "../engine/structured_prompt.ts";
import type { Message } from "../model/types.ts";
import { isNotification } from "./notification.ts";

/** Turns of a person that a fork gets: all, or the last so many. */
export type ForkTurns = "all" | number;

/** More turns than a conversation has; a longer number is no number of turns. */
const MAX_DIGITS = 6;

/** What mm itself says in the place of a person, in brackets. */
const OWN_WORDS = /^\[mm: [^\]]*\]$/u;

/**
 * Reads the argument `fork_turns`.
 *
 * @param value as the model wrote it; absent for all.
 * @returns the turns, or what is wrong: a sentence for the model.
 */
export function readForkTurns(
  value: unknown,
): { readonly turns: ForkTurns } | { readonly error: string } {
  if (value === undefined || value === "all") return { turns: "all" };
  if (typeof value === "string" && /^[1-9][0-9]*$/u.test(value) && value.length <= MAX_DIGITS) {
    return { turns: Number(value) };
  }
  return {
    error: `fork_turns is ${said(value)}; write "all", or the number of turns as text, such as "3"`,
  };
}

/**
 * Returns the history that a fork begins with: all of it, or from the Nth last turn of a person on.
 *
 * What stands for turns that were compressed belongs to the whole conversation only. Where there are
 * fewer turns than were asked for, the fork gets those there are.
 *
 * @param messages the conversation as it is; its last turn may be open.
 * @returns copies without the system message, which begin with a user message.
 */
export function forkHistory(messages: readonly Message[], turns: ForkTurns): Message[] {
  const history = messages.filter((message) => message.role !== "system");
  return (turns === "all" ? history : lastTurns(history, turns)).map((one) => structuredClone(one));
}

function lastTurns(history: readonly Message[], turns: number): readonly Message[] {
  const spoken = withoutSummary(history);
  const starts = spoken.flatMap((message, at) => isRealTurn(message) ? [at] : []);
  return spoken.slice(starts.at(-turns) ?? 0);
}

/**
 * Takes the summary from the beginning of a history. The request of a turn that goes on behind it is
 * no part of the summary, although it stands in the same message.
 */
function withoutSummary(history: readonly Message[]): readonly Message[] {
  const length = summaryLength(history);
  const rest = history.slice(length);
  const [first] = history;
  const request = length === 1 && first !== undefined ? requestAfterSummary(first) : undefined;
  return request === undefined ? rest : [request, ...rest];
}

/** Whether a message is what a person said, and not mm in the person's place. */
function isRealTurn(message: Message): boolean {
  if (message.role !== "user" || isSummary(message)) return false;
  const text = message.text.trim();
  if (text === "") return (message.images?.length ?? 0) > 0;
  return !text.startsWith(REPAIR_MARK) && !OWN_WORDS.test(text) && !isNotification(text);
}

function said(value: unknown): string {
  if (typeof value !== "string") {
    return typeof value === "number" ? `the number ${value}` : "no text";
  }
  return JSON.stringify(value.length > 20 ? `${value.slice(0, 20)}…` : value);
}
