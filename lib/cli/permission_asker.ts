/**
 * Putting permission questions to a person, one after the other.
 *
 * @module
 */
import { untilAborted } from "../base/until_aborted.ts";
import type { AskPermission, PermissionAnswer, PermissionQuestion } from "../gate/question.ts";
import type { LineInput } from "./line_input.ts";
import type { Paint } from "./paint.ts";
import { answerPrompt, noAnswerText, questionText, readAnswer } from "./permission_text.ts";
import type { QuestionCommands } from "./question_commands.ts";
import type { Renderer } from "./render.ts";
import { safeText } from "./safe_text.ts";

/** Options of {@linkcode createPermissionAsker}. */
export interface PermissionAskerOptions {
  readonly input: LineInput;
  readonly renderer: Renderer;
  readonly paint: Paint;
  /** Carries out commands typed at a question of a run in the background; absent where there are none. */
  readonly commands?: QuestionCommands;
  /** Aborted when mm is being left: no question is put any more. */
  readonly leaving?: AbortSignal;
}

/**
 * Creates the function that asks. Questions that arrive together wait for each other, and each is
 * answered by a line of its own.
 */
export function createPermissionAsker(options: PermissionAskerOptions): AskPermission {
  let before: Promise<unknown> = Promise.resolve();
  return (question, { signal }) => {
    const answer = before.then(() => ask(question, signal, options));
    before = answer;
    return answer;
  };
}

/** Says that nobody has to answer any more. */
function withdrawnText({ agent, taskId }: PermissionQuestion): string {
  return safeText(`  (no answer is needed any more: ${agent}, ${taskId}, has ended)`);
}

/** Never rejects: whatever fails here refuses the call. */
async function ask(
  question: PermissionQuestion,
  asked: AbortSignal,
  { input, renderer, paint, commands, leaving }: PermissionAskerOptions,
): Promise<PermissionAnswer> {
  const signal = leaving === undefined ? asked : AbortSignal.any([asked, leaving]);
  if (signal.aborted) return { kind: "cancelled" };
  const withdrawn = (): PermissionAnswer => {
    // Who cancels a turn knows it; a run that was stopped or died takes its question along unseen.
    const ended = question.taskId !== undefined && leaving?.aborted !== true;
    if (ended) renderer.lines(paint.dim(withdrawnText(question)));
    return { kind: "cancelled" };
  };
  const show = () => renderer.lines(questionText(question, paint));
  const offered = question.taskId === undefined ? undefined : commands;
  try {
    show();
    if ((question.call.diffs ?? []).length > 0) renderer.changeShown(question.call.id);
    for (;;) {
      const line = await input.next({ prompt: answerPrompt(question), fresh: true, signal });
      renderer.lineTyped();
      if (line === null) {
        renderer.lines("");
        return {
          kind: "unavailable",
          reason: "the input ended before the permission question was answered",
        };
      }
      const answer = readAnswer(line);
      if (answer !== undefined) return answer;
      const command = offered?.(line, { signal });
      if (command === undefined) {
        renderer.lines(noAnswerText({ commands: offered !== undefined }));
        continue;
      }
      await untilAborted(command, signal);
      // What it said stands between the question and its answer.
      show();
    }
  } catch (thrown) {
    if (signal.aborted) return withdrawn();
    return { kind: "unavailable", reason: `the permission question failed: ${thrown}` };
  }
}
