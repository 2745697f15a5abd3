/**
 * What a saved conversation consists of: one JSON object on each line of its file. The format is
 * described in docs/reference/sessions.md.
 *
 * @module
 */
import type { EngineEvent } from "../engine/events.ts";
import type { Message } from "../model/types.ts";

/** The name of the format, in the header of each file. */
export const FORMAT = "mm-session";

/** Files of another major version are refused; records of a later minor version are passed over. */
export const MAJOR_VERSION = 1;

/** Counts what was added to the format. */
export const MINOR_VERSION = 0;

/** The first line of a file. */
export interface Header {
  readonly type: "header";
  readonly format: typeof FORMAT;
  /** `major.minor`. */
  readonly version: string;
  readonly id: string;
  /** The working directory, absolute. */
  readonly cwd: string;
  /** When the conversation began, ISO 8601. */
  readonly created: string;
  /** The version of mm that wrote it. */
  readonly mm: string;
}

/** A message of the model's history. The system prompt is never saved. */
export type SavedMessage = Exclude<Message, { readonly role: "system" }>;

type EventOf<Type extends EngineEvent["type"]> = Extract<EngineEvent, { type: Type }>;

/** What people saw. Pieces of text with one `messageId` belong together. */
export type SavedEvent = EventOf<
  | "user"
  | "text"
  | "thought"
  | "tool_call"
  | "tool_update"
  | "plan"
  | "notice"
  | "ask_start"
  | "ask_end"
>;

/** A line after the first. */
export type Entry =
  | { readonly type: "title"; readonly title: string }
  | { readonly type: "message"; readonly message: SavedMessage }
  /** The whole history of the model from here on, in place of all messages before. */
  | { readonly type: "history"; readonly messages: readonly SavedMessage[] }
  | { readonly type: "event"; readonly event: SavedEvent };

/** An entry as it stands on its line. */
export type EntryLine = Entry & {
  /** Counts the lines, so that one that was written twice is known. Absent in repairs. */
  readonly n?: number;
  /** When it was written, ISO 8601. */
  readonly at?: string;
};
