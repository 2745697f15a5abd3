/**
 * Calls that a model wrote as text, in the notations models are trained on, because its server did
 * not turn them into calls.
 *
 * Only whole answers that are nothing but such notation count, and only for tools that are declared:
 * an answer that merely speaks of a call stays an answer.
 *
 * @module
 */
import { asArray, asObject, asText, parseJson } from "./json.ts";

/** A call found in a text. */
export interface TextCall {
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

/** Tags that begin a call at the beginning of any line: prose may stand before them. */
const TAGS = [
  "<tool_call>",
  "<function=",
  "<function_call>",
  "<|tool_call",
  "[TOOL_CALLS]",
] as const;

/** What begins a call only when it begins the answer: anywhere else it is an example. */
const BEGINNINGS = [
  ...TAGS,
  "```json\n{",
  "```tool_call",
  '{"name"',
  '{ "name"',
  '[{"name"',
  '{"function"',
  '{\n  "name"',
] as const;

/**
 * Whether a text, which begins a line, begins like a call: `maybe` while it is too short to tell.
 *
 * @param first whether it begins the answer.
 */
export function beginsLikeCall(text: string, first: boolean): "yes" | "no" | "maybe" {
  const begun = first ? text.trimStart() : text;
  const forms = first ? BEGINNINGS : TAGS;
  if (forms.some((form) => begun.startsWith(form))) return "yes";
  return forms.some((form) => form.startsWith(begun)) ? "maybe" : "no";
}

/** Returns a text from its first line that begins with a tag, or nothing. */
export function taggedTail(text: string): string {
  for (let at = 0; at >= 0; at = text.indexOf("\n", at) + 1 || -1) {
    if (beginsLikeCall(text.slice(at, at + 32), false) === "yes") return text.slice(at);
  }
  return "";
}

/**
 * Returns the calls that make up a text, or `undefined` when it is anything else.
 *
 * @param toolNames the declared tools; a text that names any other is no call.
 */
export function readTextCalls(
  text: string,
  toolNames: ReadonlySet<string>,
): readonly TextCall[] | undefined {
  const trimmed = text.trim();
  const calls = readTagged(trimmed) ?? readXml(trimmed) ?? readMistral(trimmed) ??
    readJsonCalls(unfence(trimmed));
  if (calls === undefined || calls.length === 0) return undefined;
  return calls.every((call) => toolNames.has(call.name)) ? calls : undefined;
}

/** Hermes and Qwen: `<tool_call>{"name": ..., "arguments": ...}</tool_call>`, one or more. */
function readTagged(text: string): readonly TextCall[] | undefined {
  const tag = /^<(tool_call|function_call|\|tool_call\|?)>/u.exec(text)?.[1];
  if (tag === undefined) return undefined;
  const inner = text.split(new RegExp(`</?${tag.replaceAll("|", "\\|")}>|<tool_call\\|>`, "u"))
    .map((part) => part.trim()).filter((part) => part !== "");
  const calls = inner.map((part) => readXml(part) ?? readJsonCalls(part));
  return calls.some((call) => call === undefined) ? undefined : calls.flatMap((call) => call ?? []);
}

/** Llama and Qwen coder: `<function=name>{...}</function>`, or with `<parameter=name>` inside. */
function readXml(text: string): readonly TextCall[] | undefined {
  if (!text.startsWith("<function=")) return undefined;
  const calls: TextCall[] = [];
  const rest = text.replace(
    /<function=([\w.-]+)>([\s\S]*?)(?:<\/function>|$)/gu,
    (_, name: string, body: string) => {
      const input = asObject(parseJson(body)) ?? parametersOf(body);
      if (input !== undefined) calls.push({ name, arguments: JSON.stringify(input) });
      return input === undefined ? "?" : "";
    },
  );
  return rest.trim() === "" ? calls : undefined;
}

function parametersOf(body: string): Readonly<Record<string, unknown>> | undefined {
  const input: Record<string, unknown> = {};
  const rest = body.replace(
    /<parameter=([\w.-]+)>\n?([\s\S]*?)\n?<\/parameter>/gu,
    (_, name: string, value: string) => {
      // A number or a list is written as JSON, a text as it is.
      const json = parseJson(value);
      input[name] = json === undefined || typeof json === "string" ? value : json;
      return "";
    },
  );
  return rest.trim() === "" ? input : undefined;
}

/** Mistral: `[TOOL_CALLS][{"name": ..., "arguments": ...}]` or `[TOOL_CALLS]name{...}`. */
function readMistral(text: string): readonly TextCall[] | undefined {
  if (!text.startsWith("[TOOL_CALLS]")) return undefined;
  const parts = text.split("[TOOL_CALLS]").map((part) => part.trim()).filter((p) => p !== "");
  const calls = parts.map((part) => {
    const named = /^([\w.-]+)(?:\[ARGS\])?\s*(\{[\s\S]*\})$/u.exec(part);
    const input = asObject(parseJson(named?.[2] ?? ""));
    return named?.[1] === undefined || input === undefined
      ? readJsonCalls(part)
      : [{ name: named[1], arguments: JSON.stringify(input) }];
  });
  return calls.some((call) => call === undefined) ? undefined : calls.flatMap((call) => call ?? []);
}

/** A JSON object that names a tool and its arguments, or a list of such objects. */
function readJsonCalls(text: string): readonly TextCall[] | undefined {
  const json = parseJson(text);
  const list = Array.isArray(json) ? asArray(json) : [json];
  const calls = list.map((entry) => {
    const object = asObject(entry);
    const body = asObject(object?.["function"]) ?? object;
    const name = asText(body?.["name"]) ?? asText(object?.["function"]);
    const raw = body?.["arguments"] ?? body?.["parameters"];
    const input = typeof raw === "string" ? asObject(parseJson(raw)) : asObject(raw);
    return name === undefined || input === undefined
      ? undefined
      : { name, arguments: JSON.stringify(input) };
  });
  return calls.some((call) => call === undefined) ? undefined : calls.flatMap((c) => c ?? []);
}

function unfence(text: string): string {
  return /^```[a-z_]*\s*\n([\s\S]*?)\n?```$/u.exec(text)?.[1] ?? text;
}
