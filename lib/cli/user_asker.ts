/**
 * Putting the model's questions to the person at the terminal.
 *
 * @module
 */
import type { AskUser, UserAnswer, UserQuestion } from "../tools/user_question.ts";
import type { LineInput } from "./line_input.ts";
import type { Paint } from "./paint.ts";
import type { Renderer } from "./render.ts";
import { visibleText } from "./safe_text.ts";

/** Options of {@linkcode createUserAsker}. */
export interface UserAskerOptions {
  readonly input: LineInput;
  readonly renderer: Renderer;
  readonly paint: Paint;
}

/** Creates the function that asks. One question is asked at a time: see `oneAtATime`. */
export function createUserAsker(options: UserAskerOptions): AskUser {
  const { input, renderer, paint } = options;
  return async (question, { signal }) => {
    if (signal.aborted) return { kind: "cancelled" };
    try {
      renderer.lines(questionLines(question, paint));
      const line = await input.next({ prompt: promptOf(question), fresh: true, signal });
      renderer.lineTyped();
      if (line === null) {
        renderer.lines("");
        return { kind: "unavailable", reason: "the input ended before the question was answered" };
      }
      return readUserAnswer(line, question.options);
    } catch (thrown) {
      if (signal.aborted) return { kind: "cancelled" };
      return { kind: "unavailable", reason: `the question could not be asked: ${thrown}` };
    }
  };
}

/** Returns the answer in a typed line: the number of an option, or any text. */
export function readUserAnswer(line: string, options: readonly string[]): UserAnswer {
  const text = line.trim();
  if (text === "") return { kind: "declined" };
  const chosen = /^\d{1,3}$/u.test(text) ? options[Number(text) - 1] : undefined;
  return { kind: "answered", text: chosen ?? text };
}

function questionLines({ question, options }: UserQuestion, paint: Paint): string {
  return [
    `❓ ${paint.bold(visibleText(question))}`,
    ...options.map((option, index) => `  ${index + 1}. ${visibleText(option)}`),
  ].join("\n");
}

function promptOf({ options }: UserQuestion): string {
  return options.length === 0
    ? "  answer, nothing for none > "
    : "  number or answer, nothing for none > ";
}
