/**
 * A tool call as the protocol shows it: title, kind, places, changes, arguments.
 *
 * @module
 */
import { isAbsolute } from "node:path";
import type { ToolCall, ToolCallContent, ToolCallLocation } from "@agentclientprotocol/sdk";
import type { FileDiff, Location, ToolCallView, ToolKind } from "../base/tool_call.ts";
import { fieldsOf, textOf } from "./fields.ts";
import { boundInput, boundText, boundTitle, MAX_PART } from "./limits.ts";
import { metaOf } from "./meta.ts";

/** Returns the fields that announce a call or describe it in a permission question. */
export function shownCall(view: ToolCallView): Omit<ToolCall, "status"> {
  const content = shownContent({ kind: view.kind, diffs: view.diffs });
  const locations = shownLocations(view.locations);
  const title = titleOf(view);
  const agent = agentOf(view.name);
  return {
    toolCallId: view.id,
    title: boundTitle(title),
    name: view.name,
    kind: view.kind,
    rawInput: boundInput(view.input),
    ...(content.length === 0 ? {} : { content }),
    ...(locations.length === 0 ? {} : { locations }),
    _meta: metaOf({
      name: view.name,
      ...(title === view.title ? {} : { title: boundTitle(view.title) }),
      ...(view.parentId === undefined ? {} : { parentCallId: view.parentId }),
      ...(agent === "" ? {} : { agent }),
    }),
  };
}

/**
 * Returns the call as a permission question shows it. A command stands there whole, also where the
 * title only has its beginning: nobody should allow what they cannot read.
 */
export function askedCall(view: ToolCallView): Omit<ToolCall, "status"> {
  const shown = shownCall(view);
  const command = textOf(fieldsOf(view.input)["command"]);
  if (view.kind !== "execute" || command === undefined || shown.title.includes(command)) {
    return shown;
  }
  const content = shownContent({ kind: view.kind, diffs: view.diffs, text: command });
  return { ...shown, content };
}

/** What a call shows below its title. */
export interface CallContent {
  readonly kind: ToolKind;
  readonly diffs: readonly FileDiff[] | undefined;
  readonly text?: string;
}

/** Returns the content of a call: its changes, then its text. */
export function shownContent(content: CallContent): ToolCallContent[] {
  const { kind, diffs = [], text = "" } = content;
  const shown = shownDiffs(diffs);
  if (text !== "") {
    // Editors render Markdown; the output of a command is none.
    shown.push(textContent(kind === "execute" ? fence(boundText(text)) : boundText(text)));
  }
  return shown;
}

/** Returns the places of a call that an editor can open. */
export function shownLocations(locations: readonly Location[] = []): ToolCallLocation[] {
  return locations.filter((place) => isAbsolute(place.path)).map(({ path, line }) => ({
    path,
    ...(line === undefined ? {} : { line }),
  }));
}

/** Returns the path of the asked agent that a full tool name begins with; empty for own tools. */
export function agentOf(name: string): string {
  return name.slice(0, Math.max(0, name.lastIndexOf("/")));
}

/** A person has to see at once whose call it is: `bob/bash: make test`. */
function titleOf(view: ToolCallView): string {
  if (agentOf(view.name) === "" || view.title.startsWith(view.name)) return view.title;
  return `${view.name}: ${view.title}`;
}

function shownDiffs(diffs: readonly FileDiff[]): ToolCallContent[] {
  const shown: ToolCallContent[] = [];
  let room = MAX_PART;
  for (const { path, oldText, newText } of diffs) {
    const size = (oldText?.length ?? 0) + newText.length;
    if (size > room) {
      shown.push(textContent(`The change of ${path} is not shown: it has ${size} characters.`));
      continue;
    }
    room -= size;
    shown.push({ type: "diff", path, oldText, newText });
  }
  return shown;
}

function textContent(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text } };
}

/** Returns `text` as a Markdown code block whose marks do not occur in it. */
export function fence(text: string): string {
  let marks = "```";
  while (text.includes(marks)) marks += "`";
  return `${marks}\n${text}${text.endsWith("\n") ? "" : "\n"}${marks}`;
}

/** Returns the text inside when `text` is one Markdown code block made by {@linkcode fence}. */
export function unfence(text: string): string {
  const match = /^(`{3,})\n([\s\S]*\n)\1$/u.exec(text);
  return match?.[2] ?? text;
}
