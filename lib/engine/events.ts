/**
 * What an engine tells its front end. Front ends render these events and know nothing else.
 *
 * @module
 */
import type { End } from "../base/ends.ts";
import type { PlanEntry } from "../base/plan.ts";
import type { FileDiff, Location, ToolCallView, ToolStatus } from "../base/tool_call.ts";
import type { ProcessEnd } from "../platform/process.ts";

/** One event of a turn. */
export type EngineEvent =
  /** What a person said: only where a saved conversation is shown again. */
  | { readonly type: "user"; readonly messageId: string; readonly text: string }
  /** A piece of answer text. `agent` names the asked agent that speaks in a typed ask. */
  | {
    readonly type: "text";
    readonly messageId: string;
    readonly text: string;
    readonly agent?: string;
  }
  /** A piece of thought. */
  | {
    readonly type: "thought";
    readonly messageId: string;
    readonly text: string;
    readonly agent?: string;
  }
  /** A call is announced; it is `pending`. Precedes every other event about it. */
  | { readonly type: "tool_call"; readonly call: ToolCallView }
  /** The state of a call changed. `text` is its whole result, for the person. */
  | {
    readonly type: "tool_update";
    readonly callId: string;
    readonly status: ToolStatus;
    /** The call, where an asked agent says more of it than when it was announced. */
    readonly call?: ToolCallView;
    readonly text?: string;
    readonly diffs?: readonly FileDiff[];
    readonly locations?: readonly Location[];
    /** How the process of a command ended. */
    readonly exit?: ProcessEnd;
  }
  /** A piece of what a running call produces: output of a command, words of an asked agent. */
  | {
    readonly type: "tool_output";
    readonly callId: string;
    readonly text: string;
    readonly thought?: boolean;
  }
  /** The plan of the task, whole each time. */
  | { readonly type: "plan"; readonly entries: readonly PlanEntry[] }
  /**
   * Tokens in the window after a model request, the window where it is known, and what the request
   * cost in US dollars where the server says so.
   */
  | {
    readonly type: "usage";
    readonly used: number;
    readonly size?: number;
    readonly cost?: number;
  }
  /** Work goes on, and there is nothing to show. */
  | { readonly type: "alive" }
  /**
   * Something the person should know: a wait, a warning. `callId` is the `ask_agent` call whose asked
   * agent says so.
   */
  | {
    readonly type: "notice";
    readonly severity: "info" | "warning" | "error";
    readonly text: string;
    readonly callId?: string;
  }
  /** The conversation is being compressed. Notices tell the same to front ends without a place for it. */
  | { readonly type: "compaction_start"; readonly compactionId: string }
  /** A piece of the summary. */
  | { readonly type: "compaction_text"; readonly compactionId: string; readonly text: string }
  /** A compression ended. */
  | {
    readonly type: "compaction_end";
    readonly compactionId: string;
    readonly status: "completed" | "failed" | "cancelled";
    /** The whole summary, where it is completed. */
    readonly summary?: string;
    /** Why it failed. */
    readonly error?: string;
  }
  /**
   * A run in the background changed its state. Between prompts this is the only event of a run;
   * `parked` means that it waits for a person.
   */
  | {
    readonly type: "task";
    readonly taskId: string;
    readonly agent: string;
    readonly description: string;
    readonly state: "queued" | "running" | "parked" | "ended";
    /** How it ended. */
    readonly end?: End;
  }
  /** An asked agent begins to work. `callId` is the `ask_agent` call, absent for a typed ask. */
  | {
    readonly type: "ask_start";
    readonly askId: string;
    readonly agent: string;
    readonly title: string;
    readonly callId?: string;
  }
  /** An asked agent ended. `label` is its `provider/model`, where it said so. */
  | {
    readonly type: "ask_end";
    readonly askId: string;
    readonly agent: string;
    readonly end: End;
    readonly label?: string;
  };

/** Takes the events of a turn, in order. Must not throw. */
export type Emit = (event: EngineEvent) => void;
