/**
 * The answer in what an asked agent streams: its last message. What it said before its tool calls is
 * shown, but is no part of the answer.
 *
 * @module
 */
import { headOf } from "../base/cut.ts";
import type { ChildUpdate } from "./child_connection.ts";

/** UTF-16 units one message of an answer may have: 64 Mi, as much as an answer of a model. */
export const MAX_ANSWER = 64 * 1024 * 1024;

/** Collects the answer from updates. */
export class AnswerText {
  readonly #limit: number;
  #last = "";
  #before = "";
  #tooLong = false;
  #messageId: string | undefined;

  /**
   * Creates it empty.
   *
   * @param limit UTF-16 units that are kept of one message.
   */
  constructor(limit = MAX_ANSWER) {
    this.#limit = limit;
  }

  /** Whether a message was longer than the limit; the answer is then its beginning. */
  get tooLong(): boolean {
    return this.#tooLong;
  }

  /** Takes the next update. */
  note(update: ChildUpdate): void {
    if (update.type === "tool_call") return this.#begin(undefined);
    if (update.type !== "text") return;
    if (update.messageId !== undefined && update.messageId !== this.#messageId) {
      this.#begin(update.messageId);
    }
    const room = this.#limit - this.#last.length;
    this.#tooLong ||= update.text.length > room;
    this.#last += headOf(update.text, room);
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
