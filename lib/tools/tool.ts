/**
 * What a tool is: one declaration for the model, one function that runs.
 *
 * @module
 */
import type { End } from "../base/ends.ts";
import type { PlanEntry } from "../base/plan.ts";
import type { FileDiff, Location, ToolKind } from "../base/tool_call.ts";
import type { Commands, ProcessEnd } from "../platform/process.ts";
import type { FileViews } from "./file_views.ts";
import type { AskUser } from "./user_question.ts";

/** What a tool needs from the session that runs it. */
export interface ToolContext {
  /** The session's working directory, absolute. Relative paths are resolved against it. */
  readonly cwd: string;
  /** Ends the call at once. */
  readonly signal: AbortSignal;
  /** The id under which the call is shown. */
  readonly callId: string;
  /** The id that the model gave the call. */
  readonly requestId: string;
  /** UTF-16 units of a result that reach the model. */
  readonly maxOutput: number;
  /** Budget of one command when the model names none, in milliseconds, and the most it may name. */
  readonly bashTimeoutMs: number;
  readonly bashTimeoutMaxMs: number;
  /** The environment of commands: this process's without secrets of its own, with `MM_BIN` and so on. */
  readonly commandEnv: () => Promise<Readonly<Record<string, string>>>;
  /** What this session has read, to refuse an edit of a stale view. */
  readonly files: FileViews;
  /** Starts commands in process groups that end with this process. */
  readonly commands: Commands;
  /** Shows a piece of output while the call runs. Counts as a sign of life. */
  readonly output: (text: string, options?: { readonly thought?: boolean }) => void;
  /** Notes a sign of life that shows nothing. */
  readonly alive: () => void;
  /** Stops the watchdog until the returned function is called: the call has its own budget. */
  readonly pauseWatchdog: () => () => void;
  /** Shows the plan of the task; absent where nobody looks. */
  readonly plan?: (entries: readonly PlanEntry[]) => void;
  /** Puts a question to the person; absent where nobody is there. */
  readonly askUser?: AskUser;
}

/** What a call will do, for the person who is asked. */
export interface ToolPreview {
  /** One line: the command, the file. */
  readonly title: string;
  readonly locations?: readonly Location[];
  /** The change of `write` and `edit`, before it is made. */
  readonly diffs?: readonly FileDiff[];
  /** What the arguments leave open, in a few words. */
  readonly note?: string;
}

/** The result of a call. */
export interface ToolResult {
  /** Text for the model, within the limit, saying what was cut. */
  readonly text: string;
  /** False when the call did not do what was asked; the text then says what to do instead. */
  readonly ok: boolean;
  readonly diffs?: readonly FileDiff[];
  readonly locations?: readonly Location[];
  /** How the process ended, for a tool that runs one. */
  readonly exit?: ProcessEnd;
  /** How an ask ended, for a tool that is one. */
  readonly end?: End;
  /** Whether the model is told it also where the turn was cancelled meanwhile. @default {false} */
  readonly toldIfCancelled?: boolean;
}

/**
 * A tool with arguments of type `Input`. `preview` and `run` are methods so that tools with different
 * arguments fit into one list: what they get always comes from their own `parse`.
 */
export interface Tool<Input = unknown> {
  readonly name: string;
  readonly kind: ToolKind;
  /** Text for the model; has a size budget. */
  readonly description: string;
  /** JSON Schema of the arguments, as it goes to the model. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Whether the gate asks before it runs. */
  readonly gated: boolean;
  /** Whether several calls may run at the same time; others wait for those before them. */
  readonly parallel: boolean;
  /** The same call again is no circle: it looks how something goes on. @default {false} */
  readonly repeatable?: true;
  /**
   * Checks and converts the arguments.
   *
   * @returns the arguments, or an error that tells the model what is wrong with which of them.
   */
  readonly parse: (raw: unknown) => { readonly input: Input } | { readonly error: string };
  /** Says what a call will do. Never throws: what cannot be found out is left out. */
  preview(
    input: Input,
    context: { readonly cwd: string; readonly files: FileViews },
  ): Promise<ToolPreview>;
  /** Runs the call. Throws only the signal's reason; every other failure is a result. */
  run(input: Input, context: ToolContext): Promise<ToolResult>;
}
