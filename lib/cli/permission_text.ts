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

/** UTF-16 units of a tool's name in the prompt. */
const NAME_WIDTH = 60;

/**
 * Returns what is typed to answer, shown as the prompt. Leave for the session is for every call of that
 * name, whatever else it does, which the question itself does not show.
 */
export function answerPrompt({ call, mustAsk }: PermissionQuestion): string {
  const calls = `call of ${visibleText(oneLine(call.name, NAME_WIDTH))}`;
  const session = mustAsk === undefined ? `every ${calls}` : `any other ${calls} too,`;
  return `  y once, s ${session} this session, n reject, never for this session > `;
}

/**
 * Returns what is said to a line that is no answer.
 *
 * @param options `commands`: whether commands can be typed there too.
 */
export function noAnswerText({ commands }: { readonly commands: boolean }): string {
  return "Answer y, s, n or never" +
    (commands ? "; /tasks, /tasks stop <id> and /quit work here too" : "");
}

/** Returns the question in whole lines, without the final newline. */
export function questionText(question: PermissionQuestion, paint: Paint): string {
  const { call, cwd, taskId, taskDescription, mustAsk } = question;
  // A run in the background asks at any time, when nobody has it in mind.
  const about = taskDescription === undefined
    ? ""
    : ` "${visibleText(oneLine(taskDescription, TITLE_WIDTH))}"`;
  const task = taskId === undefined ? "" : `, in the background: ${taskId}${about}`;
  const title = oneLine(call.title, TITLE_WIDTH);
  const head = `🔐 ${paint.bold(visibleText(oneLine(call.name, TITLE_WIDTH)))}: ` +
    `${visibleText(title)} ${paint.dim(`(in ${visibleText(oneLine(cwd, 400))}${task})`)}`;
  const rule = mustAsk === undefined
    ? []
    : [paint.dim(`  asked each time: ${visibleText(oneLine(mustAsk, 400))} wants a person`)];
  return [head, ...details(call, title, question, paint), ...rule].join("\n");
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
  const note = call.note === undefined ? [] : [`  ${visibleText(call.note)}`];
  const shown = Object.entries(input).flatMap(([key, value]) =>
    // A value that the head shows whole is not repeated.
    value === undefined || value === title || isSaid(key, input, call)
      ? []
      : [[key, value] as const]
  );
  // What may be long comes last: the task of a subagent hides nothing that way.
  const sorted = [
    ...shown.filter(([key]) => key !== "prompt"),
    ...shown.filter(([key]) => key === "prompt"),
  ];
  return [...note, ...sorted.flatMap(([key, value]) => block(key, value))];
}

/** Whether the head and the note of a call of `agent` say an argument. */
function isSaid(key: string, input: object, call: ToolCallView): boolean {
  if (call.name !== "agent" && !call.name.endsWith("/agent")) return false;
  if (key === "run_in_background") return call.note !== undefined;
  const { subagent_type: type, description } = input as Record<string, unknown>;
  return (key === "subagent_type" || key === "description") &&
    oneLine(call.title, TITLE_WIDTH) === `${type}: ${description}`;
}

function block(key: string, value: unknown): string[] {
  const text = visibleText(typeof value === "string" ? value : JSON.stringify(value) ?? "");
  const [first = "", ...rest] = text.split("\n");
  const name = visibleText(oneLine(key, 60));
  return rest.length === 0
    ? [`  ${name}: ${first}`]
    : [`  ${name}:`, ...[first, ...rest].map((line) => `    ${line}`)];
}
