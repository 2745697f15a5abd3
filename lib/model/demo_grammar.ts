/**
 * The sentences the demo model understands. They are listed in docs/reference/providers.md.
 *
 * @module
 */
import { oneLine } from "../base/cut.ts";
import { asArray, asObject } from "./json.ts";
import type { ToolDeclaration } from "./types.ts";

/** What a step makes the demo model do. */
export interface DemoAction {
  readonly tool: string;
  readonly input: Readonly<Record<string, string | boolean>>;
  /** What it says while it does so. */
  readonly sentence: string;
}

/** One form of a step: what it looks like, and which arguments of which tool it fills. */
interface Form {
  readonly form: RegExp;
  readonly tool: string;
  /** For each group of the form: the argument's name, and other names a tool may use for it. */
  readonly fields: readonly (readonly [string, ...string[]])[];
  /** Arguments besides, where the tool takes them. */
  readonly fixed?: Readonly<Record<string, boolean>>;
  readonly sentence: (groups: readonly string[]) => string;
}

/** UTF-16 units of the few words that describe a task. */
const DESCRIPTION_LENGTH = 60;

const FORMS: readonly Form[] = [
  {
    // Both arguments are the task: the first for lists, the second for the subagent.
    form: /^delegate\s*:?\s+(?=(.+)$)(.+)$/isu,
    tool: "agent",
    fields: [["description"], ["prompt"]],
    fixed: { run_in_background: false },
    sentence: () => "I let a subagent do it.",
  },
  {
    form: /^ask\s+["'`]?([\w.-]+?)["'`]?\s*[:,]?\s+(?:to\s+)?(.+)$/isu,
    tool: "ask_agent",
    fields: [["agent", "name"], ["prompt", "question"]],
    sentence: ([agent]) => `I ask ${agent}.`,
  },
  {
    form: /^list\b.*\s(?:in|of)\s+["'`]?([^\s"'`]+?)["'`]?[.?!]?$/isu,
    tool: "ls",
    fields: [["path", "directory"]],
    sentence: ([directory]) => `I list ${directory}.`,
  },
  {
    form: /^list\b/isu,
    tool: "ls",
    fields: [["path", "directory"]],
    sentence: () => "I list the files.",
  },
  {
    form: /^read\s+(?:the\s+)?(?:file\s+)?["'`]?([^\s"'`]+)["'`]?.*$/isu,
    tool: "read",
    fields: [["path", "file_path"]],
    sentence: ([file]) => `I read ${file}.`,
  },
  {
    form: /^write\s+(?:the\s+)?(?:file\s+)?["'`]?([^\s"'`]+)["'`]?\s*:?\s+(.+)$/isu,
    tool: "write",
    fields: [["path", "file_path"], ["content", "text"]],
    sentence: ([file]) => `I write ${file}.`,
  },
  {
    form: /^run\s+`?(.+?)`?$/isu,
    tool: "bash",
    fields: [["command", "cmd"]],
    sentence: ([command]) => `I run \`${command}\`.`,
  },
];

/** Splits a prompt at each `then` that is followed by another step. */
export function splitDemoSteps(prompt: string): readonly string[] {
  return prompt
    .split(/[,;.]?\s+(?:and\s+)?then\s+(?=(?:ask|delegate|list|read|write|run)\b)/iu)
    .map((step) => step.trim().replace(/^please\s+/iu, ""));
}

/** Returns what a step asks for, or `undefined` when no declared tool can do it. */
export function readDemoStep(
  step: string,
  tools: readonly ToolDeclaration[],
): DemoAction | undefined {
  for (const { form, tool, fields, fixed = {}, sentence } of FORMS) {
    const match = form.exec(step);
    const declared = tools.find((candidate) => candidate.name === tool);
    if (match === null || declared === undefined) continue;
    const groups = match.slice(1).map((group) => (group ?? "").trim());
    const input: Record<string, string | boolean> = {};
    for (const [i, names] of fields.entries()) {
      const value = groups[i] ?? "";
      // An argument that was not given is left out, unless the tool needs it.
      const needed = asArray(declared.parameters["required"]).includes(fieldOf(names, declared));
      if (value !== "") input[fieldOf(names, declared)] = value;
      else if (needed) input[fieldOf(names, declared)] = ".";
    }
    if (typeof input["description"] === "string") {
      input["description"] = oneLine(input["description"], DESCRIPTION_LENGTH);
    }
    const known = asObject(declared.parameters["properties"]) ?? {};
    for (const [name, value] of Object.entries(fixed)) {
      if (Object.hasOwn(known, name)) input[name] = value;
    }
    return { tool, input, sentence: sentence(groups) };
  }
  return undefined;
}

/** The name under which this tool takes an argument. */
function fieldOf(names: readonly [string, ...string[]], tool: ToolDeclaration): string {
  const known = asObject(tool.parameters["properties"]) ?? {};
  return names.find((name) => Object.hasOwn(known, name)) ?? names[0];
}
