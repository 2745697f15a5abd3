/**
 * A session that goes on as another conversation: under its system prompt, with its tools declared, from
 * its history. So a server that has read that conversation has read the beginning of this one.
 *
 * @module
 */
import type { ForkOpening } from "../agents/child_connection.ts";
import { UserError } from "../base/errors.ts";
import { type Conversation, openCallsOf } from "../engine/conversation.ts";
import type { TurnOptions } from "../engine/turn.ts";
import { forkGate } from "../delegation/fork_tools.ts";
import type { Message } from "../model/types.ts";
import type { ConversationOpening } from "./conversation_opening.ts";

/** The result of a call that the other conversation carries out. */
const ELSEWHERE =
  "[this call is carried out by the agent that you were forked from; you do not see its result]";

/**
 * Returns what the conversation of a fork begins with: the other one's system prompt as it is, nothing
 * read anew.
 *
 * @param window the model's window in tokens, where it is known.
 */
export function forkedOpening(
  { system }: ForkOpening,
  window: number | undefined,
): ConversationOpening {
  return {
    system,
    instructions: { state: "", notices: [], windowWarning: () => undefined },
    window,
  };
}

/**
 * Checks that a history ends where the fork was made.
 *
 * @param messages without a system message.
 * @throws {UserError} when the call that made the fork is not open in it.
 */
export function checkForkedAt({ callId }: ForkOpening, messages: readonly Message[]): void {
  if (callId === undefined || openCallsOf(messages).some((call) => call.id === callId)) return;
  throw new UserError(
    `Cannot go on as a fork: the history that was loaded does not end at the call "${callId}"`,
  );
}

/** The turns of a fork. */
export class ForkedTurns {
  readonly #fork: ForkOpening;
  readonly #barred: (name: string) => string | undefined;
  /** The call that the first prompt is the result of, until there was one. */
  #callId: string | undefined;

  /** Prepares the turns of a fork. */
  constructor(fork: ForkOpening) {
    this.#fork = fork;
    this.#barred = forkGate(fork.allow);
    this.#callId = fork.callId;
  }

  /** Returns what of a turn is the fork's. */
  options(prompt: string): Pick<TurnOptions, "declared" | "barred" | "begin"> {
    const common = { declared: this.#fork.tools, barred: this.#barred };
    if (this.#callId === undefined) return common;
    return { ...common, begin: (conversation) => this.#begin(conversation, prompt) };
  }

  /** Every open call gets its result, in order: the one that made the fork the prompt. */
  #begin(conversation: Conversation, prompt: string): void {
    const callId = this.#callId;
    this.#callId = undefined;
    const calls = conversation.openCalls;
    // Ids of calls are the model's: two may be the same.
    const own = calls.findIndex((call) => call.id === callId);
    for (const [at, { id, name }] of calls.entries()) {
      conversation.addToolResult({ callId: id, name, text: at === own ? prompt : ELSEWHERE });
    }
  }
}
