/**
 * From a value on a line to a record. Nothing in a file is trusted to have its type: a disk, another
 * program or another version of mm may have changed it.
 *
 * @module
 */
import { PLAN_PRIORITIES, PLAN_STATUSES } from "../base/plan.ts";
import { FORMAT, type Header, type SavedEvent, type SavedMessage } from "./record.ts";
import type { EntryLine } from "./record.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Returns the header, or `undefined` for a value that is none. */
export function parseHeader(value: unknown): Header | undefined {
  if (!isFields(value) || value["type"] !== "header" || value["format"] !== FORMAT) {
    return undefined;
  }
  const { version, id, cwd, created, mm } = value;
  if (
    !areTexts(version, id, cwd, created, mm) || !/^\d{1,6}\.\d{1,6}$/u.test(version as string)
  ) return undefined;
  return value as unknown as Header;
}

/**
 * Returns the record, `"unknown"` for one of a kind that this version does not know, or `undefined`
 * for a value that is none.
 */
export function parseEntry(value: unknown): EntryLine | "unknown" | undefined {
  if (!isFields(value) || typeof value["type"] !== "string") return undefined;
  const n = value["n"];
  if (n !== undefined && !Number.isSafeInteger(n)) return undefined;
  switch (value["type"]) {
    case "title":
      return typeof value["title"] === "string" ? value as unknown as EntryLine : undefined;
    case "message":
      return isMessage(value["message"]) ? value as unknown as EntryLine : undefined;
    case "history": {
      const messages = value["messages"];
      if (!Array.isArray(messages) || !messages.every(isMessage)) return undefined;
      return value as unknown as EntryLine;
    }
    case "event": {
      const kind = isEvent(value["event"]);
      return kind === true ? value as unknown as EntryLine : kind === false ? undefined : kind;
    }
    default:
      return "unknown";
  }
}

function isMessage(value: unknown): value is SavedMessage {
  if (!isFields(value) || typeof value["text"] !== "string") return false;
  switch (value["role"]) {
    case "user":
      return isListOr(value["images"], (image) => areTexts(image["mimeType"], image["data"]));
    case "assistant":
      return isTextOr(value["reasoning"]) &&
        (value["callExtras"] === undefined || isFields(value["callExtras"])) &&
        isListOr(
          value["toolCalls"],
          (call) => areTexts(call["id"], call["name"], call["arguments"]),
        );
    case "tool":
      return areTexts(value["callId"], value["name"]);
    default:
      return false;
  }
}

const ENDS = new Set([
  "answered",
  "incomplete",
  "refused",
  "cancelled",
  "timed_out",
  "died",
  "failed",
]);

function isEvent(value: unknown): boolean | "unknown" {
  if (!isFields(value) || typeof value["type"] !== "string") return false;
  switch (value["type"] as SavedEvent["type"]) {
    case "user":
    case "text":
    case "thought":
      return areTexts(value["messageId"], value["text"]) && isTextOr(value["agent"]);
    case "plan":
      return Array.isArray(value["entries"]) && isListOr(
        value["entries"],
        (entry) =>
          areTexts(entry["content"]) &&
          (PLAN_STATUSES as readonly unknown[]).includes(entry["status"]) &&
          (PLAN_PRIORITIES as readonly unknown[]).includes(entry["priority"]),
      );
    case "notice":
      return areTexts(value["severity"], value["text"]);
    case "ask_start":
      return areTexts(value["askId"], value["agent"], value["title"]) && isTextOr(value["callId"]);
    case "ask_end":
      return areTexts(value["askId"], value["agent"]) && isTextOr(value["label"]) &&
        isFields(value["end"]) && isEnd(value["end"]);
    case "tool_call": {
      const call = value["call"];
      return isFields(call) && areTexts(call["id"], call["name"], call["title"], call["kind"]) &&
        isTextOr(call["parentId"]) && areChanges(call);
    }
    case "tool_update":
      return areTexts(value["callId"]) && isTextOr(value["text"]) && areChanges(value) &&
        isExitOr(value["exit"]) &&
        (value["status"] === "completed" || value["status"] === "failed");
    default:
      return "unknown";
  }
}

function isEnd(end: Fields): boolean {
  switch (end["kind"]) {
    case "incomplete":
      return areTexts(end["limit"]);
    case "refused":
    case "failed":
      return areTexts(end["reason"]);
    case "timed_out":
      return typeof end["afterMs"] === "number";
    case "died":
      return areTexts(end["stderr"]);
    default:
      return ENDS.has(String(end["kind"]));
  }
}

function areChanges(value: Fields): boolean {
  return isListOr(value["locations"], (place) => areTexts(place["path"])) &&
    isListOr(value["diffs"], (diff) =>
      areTexts(diff["path"], diff["newText"]) &&
      (diff["oldText"] === null || typeof diff["oldText"] === "string"));
}

function isExitOr(value: unknown): boolean {
  if (value === undefined) return true;
  if (!isFields(value)) return false;
  const { code, signal } = value;
  return (code === null || Number.isSafeInteger(code)) &&
    (signal === null || typeof signal === "string");
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function areTexts(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === "string");
}

function isTextOr(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}

function isListOr(value: unknown, item: (fields: Fields) => boolean): boolean {
  if (value === undefined) return true;
  return Array.isArray(value) && value.every((one) => isFields(one) && item(one));
}
