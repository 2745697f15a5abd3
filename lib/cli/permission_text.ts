/**
 * A permission question as text: who wants what, where, with the whole command or change, and
 * nothing in it hidden by control characters.
 *
 * @module
 */
import { oneLine } from "../base/cut.ts";
import type { ToolCallView } from "../base/tool_call.ts";
import type { PermissionAnswer, PermissionQuestion } from "../gate/question.ts";
import { diffText } from "./diff_text.ts";
import type { Paint } from "./paint.ts";
import { visibleText } from "./safe_text.ts";

/** Columns the title takes at most; what it says is repeated whole where it is longer. */
const TITLE_WIDTH = 200;

/** What is typed to answer, shown as the prompt. */
export const ANSWER_PROMPT = "  y once, s this session, n reject, never for this session > ";

/** Returns the question in whole lines, without the final newline. */
export function questionText(question: PermissionQuestion, paint: Paint): string {
  const { call, cwd, taskId } = question;
  // A run in the background asks at any time, when nobody has it in mind.
  const task = taskId === undefined ? "" : `, in the background: ${taskId}`;
  const title = oneLine(call.title, TITLE_WIDTH);
  const head = `🔐 ${paint.bold(visibleText(oneLine(call.name, TITLE_WIDTH)))}: ` +
    `${visibleText(title)} ${paint.dim(`(in ${visibleText(oneLine(cwd, 400))}${task})`)}`;
  return [head, ...details(call, title, question, paint)].join("\n");
}

/** Returns the answer that a typed line gives, or `undefined` when it gives none. */
export function readAnswer(line: string): PermissionAnswer | undefined {
  switch (line.trim().toLowerCase()) {
    case "y":
    case "yes":
    case "once":
      return { kind: "allow_once" };
    case "s":
    case "session":
      return { kind: "allow_session" };
    case "n":
    case "no":
      return { kind: "reject_once" };
    case "never":
      return { kind: "reject_session" };
    default:
      return undefined;
  }
}

function details(
  call: ToolCallView,
  title: string,
  question: PermissionQuestion,
  paint: Paint,
): string[] {
  if (call.diffs !== undefined && call.diffs.length > 0) {
    return call.diffs.map((diff) => diffText(diff, { paint, cwd: question.cwd }).trimEnd());
  }
  const input = call.input;
  if (typeof input !== "object" || input === null) {
    return input === undefined || input === "" ? [] : block("input", input);
  }
  return Object.entries(input).flatMap(([key, value]) =>
    // A value that the head shows whole is not repeated.
    value === undefined || value === title ? [] : block(key, value)
  );
}

function block(key: string, value: unknown): string[] {
  const text = visibleText(typeof value === "string" ? value : JSON.stringify(value) ?? "");
  const [first = "", ...rest] = text.split("\n");
  const name = visibleText(oneLine(key, 60));
  return rest.length === 0
    ? [`  ${name}: ${first}`]
    : [`  ${name}:`, ...[first, ...rest].map((line) => `    ${line}`)];
}
