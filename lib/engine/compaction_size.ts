/**
 * How many tokens a conversation takes: as the server counted them where it does, as characters
 * divided by 3.5 where it does not.
 *
 * @module
 */
import type { AssistantMessage, Message, ToolDeclaration, Usage } from "../model/types.ts";
import { CHARACTERS_PER_TOKEN, estimateTextTokens, estimateTokens } from "./estimate.ts";

/**
 * What the server's count may be of the estimate. A count beyond is one of something else: of the part
 * that was not in its cache, for example.
 */
const MIN_RATIO = 0.3;
const MAX_RATIO = 5;

/** What a request and its answer tell. */
export interface Observation {
  /** What was sent. */
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDeclaration[];
  readonly reply: AssistantMessage;
  readonly usage: Usage | undefined;
}

/** The size of one conversation. */
export class ContextSize {
  /** Tokens that the server counts for one estimated: 3 for Chinese text, for example. */
  #ratio = 1;
  /** What the server counted for the first so many messages, with system prompt and tools. */
  #counted: { readonly messages: number; readonly tokens: number } | undefined;

  /** Takes what the server counted. */
  observe({ messages, tools, reply, usage }: Observation): void {
    if (usage === undefined || usage.inputTokens <= 0) return;
    const estimated = estimateTokens(messages) + toolTokens(tools);
    const ratio = usage.inputTokens / Math.max(1, estimated);
    if (ratio < MIN_RATIO || ratio > MAX_RATIO) return;
    this.#ratio = ratio;
    // What a model thought is mostly not sent back.
    const output = reply.reasoning === undefined
      ? usage.outputTokens
      : Math.min(usage.outputTokens, this.of([reply]));
    this.#counted = { messages: messages.length + 1, tokens: usage.inputTokens + output };
  }

  /** Returns the tokens of a request. */
  measure(messages: readonly Message[], tools: readonly ToolDeclaration[]): number {
    const counted = this.#counted;
    if (counted === undefined || counted.messages > messages.length) {
      return this.of(messages) + this.ofTools(tools);
    }
    return counted.tokens + this.of(messages.slice(counted.messages));
  }

  /** Returns the tokens of some messages. */
  of(messages: readonly Message[]): number {
    return Math.ceil(estimateTokens(messages) * this.#ratio);
  }

  /** Returns the tokens of the tools' declarations. */
  ofTools(tools: readonly ToolDeclaration[]): number {
    return Math.ceil(toolTokens(tools) * this.#ratio);
  }

  /** Returns the UTF-16 units that so many tokens have, on average. */
  characters(tokens: number): number {
    return Math.floor((tokens * CHARACTERS_PER_TOKEN) / this.#ratio);
  }

  /** The messages were replaced by others of the same conversation. */
  replaced(): void {
    this.#counted = undefined;
  }

  /** Another conversation begins. */
  reset(): void {
    this.#counted = undefined;
    this.#ratio = 1;
  }
}

const known = new WeakMap<readonly ToolDeclaration[], number>();

function toolTokens(tools: readonly ToolDeclaration[]): number {
  const before = known.get(tools);
  if (before !== undefined) return before;
  const characters = tools.reduce(
    (sum, { name, description, parameters }) =>
      sum + JSON.stringify({ name, description, parameters }).length,
    0,
  );
  const tokens = estimateTextTokens(characters);
  known.set(tools, tokens);
  return tokens;
}
