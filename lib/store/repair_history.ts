/**
 * Making the model's history one that strict chat templates accept, whatever is missing in it: user and
 * assistant in turn, each call with its result, in order.
 *
 * @module
 */
import type { ToolCallRequest } from "../base/tool_call.ts";
import type { SavedMessage } from "./record.ts";

/** What stands for something that was cut off. */
export const INTERRUPTED = "[interrupted]";

/** What stands for a question whose line was lost. */
export const LOST_QUESTION = "[a message that could not be read]";

/** What a message needs before it, or why it cannot stay. */
export interface Mend {
  /** Has to stand before the message. */
  readonly before: readonly SavedMessage[];
  /** The message answers nothing and has to go. */
  readonly drop: boolean;
}

const FINE: Mend = { before: [], drop: false };
const DROP: Mend = { before: [], drop: true };

/** Follows a history message by message and says what it lacks. */
export class HistoryMender {
  #last: "nothing" | "user" | "tool" | "answer" = "nothing";
  #open: ToolCallRequest[] = [];

  /** Takes the next message and says what it needs. */
  take(message: SavedMessage): Mend {
    switch (message.role) {
      case "user": {
        if (message.text.trim() === "" && (message.images?.length ?? 0) === 0) return DROP;
        const before = this.close(INTERRUPTED);
        this.#last = "user";
        return before.length === 0 ? FINE : { before, drop: false };
      }
      case "assistant":
        return this.#assistant(message);
      case "tool":
        return this.#result(message);
    }
  }

  /** Returns what closes the history here: results of open calls, and an answer that says `mark`. */
  close(mark: string): SavedMessage[] {
    const results = this.#results(this.#open.length);
    if (results.length > 0) this.#last = "tool";
    if (this.#last !== "user" && this.#last !== "tool") return results;
    this.#last = "answer";
    return [...results, { role: "assistant", text: mark }];
  }

  #assistant(message: SavedMessage & { role: "assistant" }): Mend {
    const calls = message.toolCalls ?? [];
    if (calls.length === 0 && message.text.trim() === "") return DROP;
    const before = this.#results(this.#open.length);
    if (before.length > 0) this.#last = "tool";
    if (this.#last === "nothing" || this.#last === "answer") {
      before.push({ role: "user", text: LOST_QUESTION });
    }
    this.#open = [...calls];
    this.#last = "answer";
    return before.length === 0 ? FINE : { before, drop: false };
  }

  #result(message: SavedMessage & { role: "tool" }): Mend {
    const at = this.#open.findIndex((call) => call.id === message.callId);
    if (at < 0) return DROP;
    const before = this.#results(at);
    this.#open.shift();
    this.#last = "tool";
    return before.length === 0 ? FINE : { before, drop: false };
  }

  #results(count: number): SavedMessage[] {
    return this.#open.splice(0, count).map((call) => ({
      role: "tool",
      callId: call.id,
      name: call.name,
      text: INTERRUPTED,
    }));
  }
}

/** Returns messages with everything they lack among them; their last turn may go on. */
export function mendMessages(
  mender: HistoryMender,
  messages: readonly SavedMessage[],
): SavedMessage[] {
  return messages.flatMap((message) => {
    const { before, drop } = mender.take(message);
    return drop ? before : [...before, message];
  });
}

/** Returns a whole history with everything it lacks. */
export function mendHistory(messages: readonly SavedMessage[]): SavedMessage[] {
  const mender = new HistoryMender();
  return [...mendMessages(mender, messages), ...mender.close(INTERRUPTED)];
}
