/**
 * Permission questions of what runs in the background: an editor is asked while a prompt of its session is
 * under way, because many take nothing in between. Until then a question waits.
 *
 * @module
 */
import { settledOrAborted } from "../base/until_aborted.ts";
import type { AskPermission } from "../gate/question.ts";

/** The questions of one session that wait for a prompt. */
export class ParkedQuestions {
  readonly #waiting = new Set<() => void>();
  #prompting = false;
  #closed = false;

  /** A prompt is under way: what waits is asked now. A question that was asked stays open after it. */
  begin(): void {
    this.#prompting = true;
    this.#release();
  }

  /** The prompt is over: what comes now waits for the next one. */
  end(): void {
    this.#prompting = false;
  }

  /** The session ends: nobody will answer what waits. */
  close(): void {
    this.#closed = true;
    this.#release();
  }

  /**
   * Returns a function that asks as `ask` does, a run in the background only while a prompt is under way.
   * The signal of a question withdraws it also while it waits.
   */
  parking(ask: AskPermission): AskPermission {
    return async (question, { signal }) => {
      if (question.taskId !== undefined) await this.#prompt(signal);
      if (signal.aborted) return { kind: "cancelled" };
      if (this.#closed) {
        return { kind: "unavailable", reason: "the session ended before anybody was asked" };
      }
      return await ask(question, { signal });
    };
  }

  /** Waits until a prompt is under way, the session ends, or `signal` is aborted. */
  async #prompt(signal: AbortSignal): Promise<void> {
    if (this.#prompting || this.#closed || signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    await settledOrAborted(promise, signal);
    this.#waiting.delete(resolve);
  }

  #release(): void {
    for (const go of this.#waiting) go();
  }
}
