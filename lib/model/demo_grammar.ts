/**
 * The sentences the demo model understands. They are listed in docs/reference/providers.md.
 *
 * @module
 */
import { asArray, asObject } from "./json.ts";
import type { ToolDeclaration } from "./types.ts";

/** What a step makes the demo model do. */
export interface DemoAction {
  readonly tool: string;
  readonly input: Readonly<Record<string, string>>;
  /** What it says while it does so. */
  readonly sentence: string;
}

/** One form of a step: what it looks like, and which arguments of which tool it fills. */
interface Form {
  readonly form: RegExp;
  readonly tool: string;
  /** For each group of the form: the argument's name, and other names a tool may use for it. */
  readonly fields: readonly (readonly [string, ...string[]])[];
  readonly sentence: (groups: readonly string[]) => string;
}

const FORMS: readonly Form[] = [
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
    .split(/[,;.]?\s+(?:and\s+)?then\s+(?=(?:ask|list|read|write|run)\b)/iu)
    .map((step) => step.trim().replace(/^please\s+/iu, ""));
}

/** Returns what a step asks for, or `undefined` when no declared tool can do it. */
export function readDemoStep(
  step: string,
  tools: readonly ToolDeclaration[],
): DemoAction | undefined {
  for (const { form, tool, fields, sentence } of FORMS) {
    const match = form.exec(step);
    const declared = tools.find((candidate) => candidate.name === tool);
    if (match === null || declared === undefined) continue;
    const groups = match.slice(1).map((group) => (group ?? "").trim());
    const input: Record<string, string> = {};
    for (const [i, names] of fields.entries()) {
      const value = groups[i] ?? "";
      // An argument that was not given is left out, unless the tool needs it.
      const needed = asArray(declared.parameters["required"]).includes(fieldOf(names, declared));
      if (value !== "") input[fieldOf(names, declared)] = value;
      else if (needed) input[fieldOf(names, declared)] = ".";
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
