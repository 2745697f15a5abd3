/**
 * The updates of an asked agent, whatever program it is.
 *
 * @module
 */
import { isAbsolute } from "node:path";
import type { ChildCall, ChildCallPart, ChildUpdate } from "../agents/child_connection.ts";
import { headOf } from "../base/cut.ts";
import type { FileDiff, Location, ToolKind, ToolStatus } from "../base/tool_call.ts";
import { unfence } from "./call_view.ts";
import { countOf, type Fields, fieldsOf, isFields, listOf, textOf } from "./fields.ts";
import { readMeta } from "./meta.ts";

const KINDS: readonly ToolKind[] = [
  "read",
  "edit",
  "delete",
  "move",
  "search",
  "execute",
  "think",
  "fetch",
  "other",
];

const SEVERITIES = ["info", "warning", "error"] as const;

/** UTF-16 units of a notice that are passed on. */
const MAX_NOTICE = 2000;

const STATUSES: readonly ToolStatus[] = ["pending", "in_progress", "completed", "failed"];

/**
 * Returns what an update says. An unknown kind is a sign of life; one that lacks what its kind needs
 * says nothing.
 */
export function childUpdatesOf(update: unknown): ChildUpdate[] {
  if (!isFields(update)) return [];
  switch (update["sessionUpdate"]) {
    case "agent_message_chunk":
      return chunk("text", update);
    case "agent_thought_chunk":
      return chunk("thought", update);
    case "tool_call":
      return toolCall(update);
    case "tool_call_update":
      return toolUpdate(update);
    case "usage_update":
      return usage(update);
    case "notice":
      return notice(update["severity"], [update["title"], update["description"]]);
    default:
      return textOf(update["sessionUpdate"]) === undefined ? [] : [{ type: "other" }];
  }
}

/** Returns what an announcement or a permission question says of its call; `undefined` when it has no id. */
export function childCallOf(update: unknown): ChildCallPart | undefined {
  const fields = fieldsOf(update);
  const id = textOf(fields["toolCallId"]);
  return id === undefined ? undefined : { ...partialCall(fields), id };
}

function chunk(type: "text" | "thought", update: Fields): ChildUpdate[] {
  const content = fieldsOf(update["content"]);
  // What mm says about itself is not part of the answer.
  const said = readMeta(update)["notice"];
  if (said !== undefined) return notice(said, [content["text"]]);
  if (content["type"] !== "text") {
    return textOf(content["type"]) === undefined ? [] : [{ type: "other" }];
  }
  const text = content["text"];
  if (typeof text !== "string") return [];
  const messageId = textOf(update["messageId"]);
  return [{ type, text, ...(messageId === undefined ? {} : { messageId }) }];
}

function notice(severity: unknown, texts: readonly unknown[]): ChildUpdate[] {
  const text = texts.filter((part) => typeof part === "string").join("\n").trim();
  if (text === "") return [{ type: "other" }];
  const known = SEVERITIES.find((one) => one === severity) ?? "info";
  return [{ type: "notice", severity: known, text: headOf(text, MAX_NOTICE) }];
}

function toolCall(update: Fields): ChildUpdate[] {
  const call = childCallOf(update);
  if (call === undefined) return [];
  const status = statusOf(update["status"]) ?? "pending";
  const announced: ChildUpdate = { type: "tool_call", call, status };
  const text = contentText(update["content"]);
  if (text === "") return [announced];
  return [announced, { type: "tool_update", callId: call.id, call: {}, text }];
}

function toolUpdate(update: Fields): ChildUpdate[] {
  const callId = textOf(update["toolCallId"]);
  if (callId === undefined) return [];
  const status = statusOf(update["status"]);
  return [{
    type: "tool_update",
    callId,
    call: partialCall(update),
    ...(status === undefined ? {} : { status }),
    ...(Array.isArray(update["content"]) ? { text: contentText(update["content"]) } : {}),
  }];
}

function usage(update: Fields): ChildUpdate[] {
  const used = countOf(update["used"]);
  if (used === undefined) return [];
  const size = countOf(update["size"], 1);
  return [{ type: "usage", used, ...(size === undefined ? {} : { size }) }];
}

function partialCall(update: Fields): Partial<ChildCall> {
  const meta = readMeta(update);
  const foreign = fieldsOf(fieldsOf(update["_meta"])["claudeCode"]);
  const title = textOf(meta["title"]) ?? textOf(update["title"]);
  const name = textOf(update["name"]) ?? textOf(meta["name"]) ?? textOf(foreign["toolName"]);
  const kind = kindOf(update["kind"]);
  const locations = locationsOf(update["locations"]);
  const diffs = diffsOf(update["content"]);
  const parentId = textOf(meta["parentCallId"]) ?? textOf(foreign["parentToolUseId"]);
  return {
    ...(title === undefined ? {} : { title }),
    ...(name === undefined ? {} : { name }),
    ...(kind === undefined ? {} : { kind }),
    ...(update["rawInput"] === undefined || update["rawInput"] === null
      ? {}
      : { input: update["rawInput"] }),
    ...(locations.length === 0 ? {} : { locations }),
    ...(diffs.length === 0 ? {} : { diffs }),
    ...(parentId === undefined ? {} : { parentId }),
  };
}

function kindOf(value: unknown): ToolKind | undefined {
  if (typeof value !== "string") return undefined;
  return KINDS.find((kind) => kind === value) ?? "other";
}

function statusOf(value: unknown): ToolStatus | undefined {
  return STATUSES.find((status) => status === value);
}

function locationsOf(value: unknown): Location[] {
  return listOf(value).flatMap((item) => {
    const { path, line } = fieldsOf(item);
    if (typeof path !== "string" || !isAbsolute(path)) return [];
    const counted = countOf(line, 1);
    return [{ path, ...(counted === undefined ? {} : { line: counted }) }];
  });
}

function diffsOf(value: unknown): FileDiff[] {
  return listOf(value).flatMap((item) => {
    const { type, path, oldText, newText } = fieldsOf(item);
    if (type !== "diff" || typeof path !== "string" || typeof newText !== "string") return [];
    return [{ path, oldText: typeof oldText === "string" ? oldText : null, newText }];
  });
}

function contentText(value: unknown): string {
  const parts = listOf(value).flatMap((item) => {
    const { type, content } = fieldsOf(item);
    const text = fieldsOf(content)["text"];
    return type === "content" && typeof text === "string" ? [unfence(text)] : [];
  });
  return parts.join("\n");
}
