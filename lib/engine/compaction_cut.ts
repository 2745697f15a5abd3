/**
 * Where a history is divided into what is summarised and what is kept as it is: never between a call
 * and its result, nor between a question and its answer, an ask of another agent included.
 *
 * @module
 */
import type { Message } from "../model/types.ts";
import { isSummary } from "./compaction_words.ts";
import { REPAIR_MARK } from "./structured_prompt.ts";

/** A place to divide a history at. */
export interface Cut {
  /** Index of the first message that is kept; the number of messages where none is. */
  readonly at: number;
  /**
   * Present where the kept part begins with a round of calls of the turn that goes on: the index of
   * what the person said in it.
   */
  readonly request?: number;
}

/** Options of {@linkcode chooseCut}. */
export interface ChooseCutOptions {
  /** Tokens that the kept part may take; the least that has to be kept may take more. */
  readonly keepTokens: number;
  /** Returns the tokens of some messages. */
  readonly tokensOf: (messages: readonly Message[]) => number;
}

/**
 * Returns the cut that keeps as many whole turns as `keepTokens` allow, or `undefined` where nothing
 * could be summarised.
 *
 * @param messages without the system message.
 */
export function chooseCut(
  messages: readonly Message[],
  options: ChooseCutOptions,
): Cut | undefined {
  // A summary alone is not summarised again.
  const summarised = summaryLength(messages);
  const cuts = possibleCuts(messages).filter((cut) => cut.at > summarised);
  let chosen = cuts.pop();
  let size = chosen === undefined ? 0 : options.tokensOf(messages.slice(chosen.at));
  while (chosen !== undefined && size <= options.keepTokens) {
    const earlier = cuts.pop();
    if (earlier === undefined) break;
    size += options.tokensOf(messages.slice(earlier.at, chosen.at));
    if (size <= options.keepTokens) chosen = earlier;
  }
  return chosen;
}

/** Returns how many messages at the beginning are the summary of an earlier compression. */
export function summaryLength(messages: readonly Message[]): number {
  const [first, second] = messages;
  if (first === undefined || !isSummary(first)) return 0;
  // Where a round of calls follows, the summary has no answer of its own.
  return second?.role === "assistant" && (second.toolCalls?.length ?? 0) === 0 ? 2 : 1;
}

function possibleCuts(messages: readonly Message[]): Cut[] {
  const cuts: Cut[] = [];
  let request = -1;
  messages.forEach((message, at) => {
    if (message.role !== "user" || message.text.startsWith(REPAIR_MARK)) return;
    request = at;
    cuts.push({ at });
  });
  const last = messages.at(-1);
  if (last?.role === "assistant") return [...cuts, { at: messages.length }];
  // The turn goes on: its earlier rounds of calls can be summarised too.
  for (let at = request + 2; at < messages.length; at++) {
    if (messages[at]?.role === "assistant" && messages[at - 1]?.role === "tool") {
      cuts.push({ at, request });
    }
  }
  return cuts;
}
