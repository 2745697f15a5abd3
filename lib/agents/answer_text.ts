/**
 * The answer in what an asked agent streams: its last message. What it said before its tool calls is
 * shown, but is no part of the answer.
 *
 * @module
 */
import type { ChildUpdate } from "./child_connection.ts";

/** Collects the answer from updates. */
export class AnswerText {
  #last = "";
  #before = "";
  #messageId: string | undefined;

  /** Takes the next update. */
  note(update: ChildUpdate): void {
    if (update.type === "tool_call") return this.#begin(undefined);
    if (update.type !== "text") return;
    if (update.messageId !== undefined && update.messageId !== this.#messageId) {
      this.#begin(update.messageId);
    }
    this.#last += update.text;
  }

  /** The last message; where that is empty, the last one that is not. */
  get text(): string {
    return this.#last.trim() === "" ? this.#before : this.#last;
  }

  #begin(messageId: string | undefined): void {
    if (this.#last.trim() !== "") this.#before = this.#last;
    this.#last = "";
    this.#messageId = messageId;
  }
}
