/**
 * `ask_user`: a question to the person, in the middle of a turn.
 *
 * @module
 */
import { z } from "zod";
import { cutMiddle, oneLine } from "../base/cut.ts";
import { defineTool } from "./define_tool.ts";
import { FileProblem } from "./file_problem.ts";
import type { ToolContext, ToolResult } from "./tool.ts";
import type { UserAnswer } from "./user_question.ts";

const DESCRIPTION =
  "Asks the user something only they can decide, and waits. Do not ask what you can find out.";

/** UTF-16 units of a title. */
const MAX_TITLE = 200;

/** UTF-16 units of a question, and of each answer to choose from. */
const MAX_QUESTION = 4000;
const MAX_OPTION = 200;

/** Answers to choose from. */
const MAX_OPTIONS = 20;

/** Asks the person. */
export const askUserTool = defineTool({
  name: "ask_user",
  kind: "other",
  description: DESCRIPTION,
  schema: z.object({
    question: z.string(),
    options: z.array(z.string()).max(MAX_OPTIONS).optional().describe("answers to choose from"),
  }),
  gated: false,
  parallel: false,
  preview: (input) => ({ title: oneLine(input.question, MAX_TITLE) }),
  run: async (input, context) => {
    const question = cutMiddle(input.question.trim(), MAX_QUESTION).text;
    if (question === "") throw new FileProblem('Cannot ask: "question" is empty');
    const options = [
      ...new Set((input.options ?? []).map((o) => oneLine(o, MAX_OPTION)).filter((o) => o !== "")),
    ];
    const answer = await put({ question, options }, context);
    context.signal.throwIfAborted();
    return resultOf(answer);
  },
});

/** A person may take any time: the watchdog waits too. */
async function put(
  question: { readonly question: string; readonly options: readonly string[] },
  context: ToolContext,
): Promise<UserAnswer> {
  const { askUser, callId, signal } = context;
  if (askUser === undefined) return { kind: "unavailable", reason: "nobody is there to answer" };
  const resumeWatchdog = context.pauseWatchdog();
  try {
    return await askUser({ ...question, callId }, { signal });
  } finally {
    resumeWatchdog();
  }
}

function resultOf(answer: UserAnswer): ToolResult {
  switch (answer.kind) {
    case "answered":
      return answer.text.trim() === ""
        ? { ok: true, text: "[the user gave an empty answer]" }
        : { ok: true, text: answer.text };
    case "declined":
      return {
        ok: true,
        text: "[the user does not want to answer; decide yourself, or end your turn]",
      };
    case "as_text":
      return {
        ok: true,
        text:
          "[the user cannot be asked in the middle of a turn here. End your turn now with the " +
          "question, and its options, as your answer; the reply comes as the next message]",
      };
    case "cancelled":
      return { ok: false, text: "[the question was withdrawn]" };
    case "unavailable":
      return {
        ok: false,
        text: `Cannot ask the user: ${answer.reason}. Decide yourself and say what you assumed`,
      };
  }
}
