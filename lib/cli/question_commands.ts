/**
 * What a person can do at the question of a run in the background besides answering it: look at the runs,
 * stop one, leave.
 *
 * @module
 */
import type { Session } from "../session/types.ts";
import type { Paint } from "./paint.ts";
import type { PromptLine } from "./prompt_line.ts";
import type { Renderer } from "./render.ts";
import { safeText } from "./safe_text.ts";

/** Options of {@linkcode createQuestionCommands}. */
export interface QuestionCommandsOptions {
  readonly session: () => Pick<Session, "tasks"> | undefined;
  readonly line: PromptLine;
  readonly renderer: Renderer;
  readonly paint: Paint;
  /** Leaves mm, which withdraws all questions. */
  readonly leave: () => void;
}

/**
 * Carries out a line typed at a question. What it does shows by itself; a question that it withdraws is
 * withdrawn by its signal.
 *
 * @returns `undefined` where the line is no command that is possible there.
 */
export type QuestionCommands = (
  typed: string,
  options: { readonly signal: AbortSignal },
) => Promise<void> | undefined;

/** Creates the function that carries out `/tasks …` and `/quit`. */
export function createQuestionCommands(options: QuestionCommandsOptions): QuestionCommands {
  const { session, line, renderer, paint, leave } = options;
  return (typed, { signal }) => {
    const [, name, rest = ""] = /^\s*\/(tasks|quit)(?=\s|$)\s*([\s\S]*)$/u.exec(typed) ?? [];
    if (name === undefined) return undefined;
    if (name === "quit") {
      leave();
      return Promise.resolve();
    }
    // Not a prompt: the turn that may run goes on, and what it waits for may be this question.
    const tasks = session()?.tasks(rest, { signal });
    return tasks?.then(({ ok, text }) => {
      const shown = safeText(text);
      line.above(() => renderer.lines(ok ? shown : paint.red(`✗ ${shown}`)));
    });
  };
}
