/**
 * Lines that a person or a script gives: prompts and answers from one input.
 *
 * @module
 */
import { untilAborted } from "../base/until_aborted.ts";
import { readLines } from "../platform/stdin_lines.ts";

/** Options of {@linkcode LineInput.next}. */
export interface NextLineOptions {
  /** Shown before the line. */
  readonly prompt: string;
  /** Whether a line typed before this call must not be taken: it cannot be meant as an answer. */
  readonly fresh: boolean;
  readonly signal: AbortSignal;
}

/** An input of lines. One line is asked for at a time. */
export interface LineInput {
  /**
   * Returns the next line, or `null` when the input has ended.
   *
   * @throws the signal's reason; the line that comes later is for the next call, and no line on the screen
   * is left open.
   */
  next(options: NextLineOptions): Promise<string | null>;
  /** Shows something in whole lines. A prompt that waits for its line is shown again below it. */
  above(write: () => void): void;
  close(): void;
}

/** Options of {@linkcode createPipeInput} and {@linkcode createAnswerInput}. */
export interface StreamInputOptions {
  readonly input: AsyncIterable<Uint8Array>;
  /** Shows a prompt. */
  readonly show: (prompt: string) => void;
}

/**
 * Reads lines only when they are asked for, in order: a file or a pipe holds prompts and answers
 * together, so nothing in it is too early.
 *
 * @param options `echo` shows a line that was read, where no terminal does.
 */
export function createPipeInput(
  options: StreamInputOptions & { readonly echo: (line: string) => void },
): LineInput {
  const lines = readLines(options.input);
  const prompts = createPrompts(options.show);
  let reading: Promise<IteratorResult<string, void>> | undefined;
  return {
    async next(asked) {
      const result = await prompts.during(asked, () => reading ??= lines.next());
      reading = undefined;
      if (result.done === true) return null;
      options.echo(result.value);
      return result.value;
    },
    above: prompts.above,
    close() {},
  };
}

/** Reads answers from a terminal and drops what was typed while nothing was asked. */
export function createAnswerInput(options: StreamInputOptions): LineInput {
  const prompts = createPrompts(options.show);
  let take: ((line: string | null) => void) | undefined;
  let ended = false;
  const pump = async () => {
    try {
      for await (const line of readLines(options.input)) take?.(line);
    } finally {
      ended = true;
      take?.(null);
    }
  };
  // A terminal that is gone is the end of the input.
  pump().catch(() => {});
  return {
    async next(asked) {
      asked.signal.throwIfAborted();
      if (ended) return null;
      const answer = new Promise<string | null>((resolve) => take = resolve);
      try {
        return await prompts.during(asked, () => answer);
      } finally {
        take = undefined;
      }
    },
    above: prompts.above,
    close() {},
  };
}

/** The prompt of a line that is waited for, on a screen where nothing can be taken back. */
function createPrompts(show: (text: string) => void) {
  let asked: NextLineOptions | undefined;
  return {
    /** Shows a prompt while a line is waited for. */
    async during<T>(options: NextLineOptions, line: () => Promise<T>): Promise<T> {
      const { prompt, signal } = options;
      signal.throwIfAborted();
      show(prompt);
      asked = options;
      try {
        return await untilAborted(line(), signal);
      } catch (thrown) {
        if (signal.aborted) show("\n");
        throw thrown;
      } finally {
        asked = undefined;
      }
    },
    above(write: () => void): void {
      if (asked !== undefined) show("\n");
      write();
      // A program that answers would take the prompt of a question for another question.
      if (asked?.fresh === false) show(asked.prompt);
    },
  };
}
