/**
 * Cancels in the order of the wire: `session/cancel` ends the prompts that came before it, and no
 * later one.
 *
 * The library takes a different number of steps to the handlers of different methods, so that of
 * messages that come at once a cancel could be handled before the prompt it means, or after the one
 * that a person sent right behind it. Here both are noted as they come.
 *
 * @module
 */
import { type AnyMessage, type JsonRpcId, methods } from "@agentclientprotocol/sdk";
import { fieldsOf, textOf } from "./fields.ts";

interface OpenPrompt {
  readonly sessionId: string;
  readonly controller: AbortController;
}

/** The prompts of a connection that are not answered yet. */
export class PromptCancels {
  readonly #open = new Map<JsonRpcId, OpenPrompt>();

  /**
   * Notes an incoming message, which may be anything that JSON can say. Returns true for a cancel,
   * which is then done with.
   */
  take(message: unknown): boolean {
    const { method, id, params } = fieldsOf(message);
    const sessionId = textOf(fieldsOf(params)["sessionId"]);
    if (sessionId === undefined) return false;
    if (typeof id === "string" || typeof id === "number") {
      if (method === methods.agent.session.prompt) {
        this.#open.set(id, { sessionId, controller: new AbortController() });
      }
      return false;
    }
    if (method !== methods.agent.session.cancel || id !== undefined) return false;
    for (const prompt of this.#open.values()) {
      if (prompt.sessionId === sessionId) prompt.controller.abort();
    }
    return true;
  }

  /** Returns the signal that a cancel of this prompt aborts. */
  signalOf(id: JsonRpcId): AbortSignal | undefined {
    return this.#open.get(id)?.controller.signal;
  }

  /** Notes a message that was sent: a prompt that is answered cannot be cancelled. */
  note(message: AnyMessage): void {
    if (!("method" in message) && message.id !== undefined) this.#open.delete(message.id);
  }
}
