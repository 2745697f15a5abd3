/**
 * The line where a person types prompts, and what comes in between: questions of what runs in the
 * background, and lines about it. They take the place of the prompt, which then comes back as it was.
 *
 * @module
 */
import { settledOrAborted } from "../base/until_aborted.ts";
import type { LineInput } from "./line_input.ts";
import { oneAtATime } from "./one_at_a_time.ts";

/** What came of asking for a prompt. `interrupted`: there is something else to do first. */
export type PromptRead = { readonly line: string } | "ended" | "interrupted";

/** Options of {@linkcode PromptLine}. */
export interface PromptLineOptions {
  readonly input: LineInput;
  /** Shown before the line. */
  readonly prompt: string;
}

/** Options of {@linkcode PromptLine.next}. */
export interface NextPromptOptions {
  /** Ends the waiting: mm is being left. */
  readonly signal: AbortSignal;
  /** Whether there is something to do before a prompt; see {@linkcode PromptLine.interrupt}. */
  readonly due: () => boolean;
}

/** The line of one session. */
export class PromptLine {
  readonly #options: PromptLineOptions;
  readonly #inTurn = oneAtATime();
  /** Questions that are asked or wait to be. */
  #questions = 0;
  /** Settles when there are none any more. */
  #quiet = Promise.resolve();
  #onQuiet = () => {};
  /** The prompt that is being read. */
  #read: { readonly withdraw: AbortController; readonly gone: Promise<void> } | undefined;
  /** What is shown when the question that is asked is over; absent where nothing waits for one. */
  #held: (() => void)[] | undefined;

  /** Creates the line; nothing is read yet. */
  constructor(options: PromptLineOptions) {
    this.#options = options;
  }

  /** Returns the next prompt. While a question is asked, the prompt waits. */
  async next({ signal, due }: NextPromptOptions): Promise<PromptRead> {
    const { input, prompt } = this.#options;
    for (;;) {
      await settledOrAborted(this.#quiet, signal);
      if (signal.aborted) return "interrupted";
      if (this.#questions > 0) continue;
      if (due()) return "interrupted";
      const withdraw = new AbortController();
      const { promise: gone, resolve } = Promise.withResolvers<void>();
      this.#read = { withdraw, gone };
      try {
        const line = await input.next({
          prompt,
          fresh: false,
          signal: AbortSignal.any([signal, withdraw.signal]),
        });
        return line === null ? "ended" : { line };
      } catch (thrown) {
        if (!signal.aborted && !withdraw.signal.aborted) throw thrown;
      } finally {
        this.#read = undefined;
        resolve();
      }
    }
  }

  /** Takes a prompt that is being read away: there is something else to do first. */
  interrupt(): void {
    this.#read?.withdraw.abort();
  }

  /**
   * Asks the person something in the place of the prompt, when the questions before it are answered.
   *
   * @param options `alone`: whether everything else is shown afterwards only, because what goes on has
   * nothing to do with the question.
   */
  async ask<T>(task: () => Promise<T>, options: { readonly alone: boolean }): Promise<T> {
    if (this.#questions++ === 0) {
      ({ promise: this.#quiet, resolve: this.#onQuiet } = Promise.withResolvers<void>());
    }
    try {
      this.interrupt();
      await this.#read?.gone;
      return await this.#inTurn(() => options.alone ? this.#alone(task) : task());
    } finally {
      if (--this.#questions === 0) this.#onQuiet();
    }
  }

  /** Shows something; after the question, where one is asked alone. */
  show(write: () => void): void {
    if (this.#held === undefined) write();
    else this.#held.push(write);
  }

  /** Shows something in whole lines at once, above what is being asked for. */
  above(write: () => void): void {
    this.#options.input.above(write);
  }

  async #alone<T>(task: () => Promise<T>): Promise<T> {
    const held: (() => void)[] = [];
    this.#held = held;
    try {
      return await task();
    } finally {
      this.#held = undefined;
      for (const write of held) write();
    }
  }
}
