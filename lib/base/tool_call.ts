/**
 * A tool call: what the model asks for, and what people see of it.
 *
 * @module
 */

/** A call as a model asked for it. */
export interface ToolCallRequest {
  /** The id under which the model expects the result. */
  readonly id: string;
  /** The tool, an asked agent's with its path before it: `bob/bash`. */
  readonly name: string;
  /** The arguments as JSON text, exactly as the model wrote them; empty for none. */
  readonly arguments: string;
}

/** What a tool does, for icons and defaults; the words of ACP. */
export type ToolKind =
  | "read"
  | "edit"
  | "delete"
  | "move"
  | "search"
  | "execute"
  | "think"
  | "fetch"
  | "other";

/** A place a call is about. */
export interface Location {
  /** Absolute. */
  readonly path: string;
  /** Counted from 1. */
  readonly line?: number;
}

/** A change of a file that a call makes or proposes. */
export interface FileDiff {
  /** Absolute. */
  readonly path: string;
  /** `null` for a new file. */
  readonly oldText: string | null;
  /** The text after the change. */
  readonly newText: string;
}

/** The state of a call that people see. A call ends `completed` or `failed`, never otherwise. */
export type ToolStatus = "pending" | "in_progress" | "completed" | "failed";

/** A call as front ends show it. */
export interface ToolCallView {
  /** Unique in this process; not the model's id, which servers reuse. */
  readonly id: string;
  /** The full name: `bash`, `bob/bash`, `bob/riker/edit`. */
  readonly name: string;
  /** One line that says what will happen: the command, the file. */
  readonly title: string;
  /** What kind of work it is, for the front end's icon. */
  readonly kind: ToolKind;
  /** The arguments as the tool understood them. */
  readonly input: unknown;
  /** Files that the call is about. */
  readonly locations?: readonly Location[];
  /** Changes of files that the call makes. */
  readonly diffs?: readonly FileDiff[];
  /** What the arguments leave open, in a few words: "in the background". */
  readonly note?: string;
  /** The call this one belongs to: an asked agent's call inside `ask_agent`. */
  readonly parentId?: string;
}
