/**
 * The one question a front end is asked: may this call run?
 *
 * @module
 */
import type { ToolCallView } from "../base/tool_call.ts";

/** A permission question. The call was announced to the front end before. */
export interface PermissionQuestion {
  /** The call, as the front end shows it. */
  readonly call: ToolCallView;
  /** Who wants to run it: empty for this agent, else the path of the asked one, `bob/riker`. */
  readonly agent: string;
  /** The directory the call works in, absolute. */
  readonly cwd: string;
  /** The run in the background that wants to run it: it can ask at any time, also between prompts. */
  readonly taskId?: string;
  /** What that run is about, in a few words. */
  readonly taskDescription?: string;
  /**
   * The rule that wants a person for each such call, whatever yolo and rules that allow say: the
   * beginning of a sentence. Absent where the call would run if it were allowed.
   */
  readonly mustAsk?: string;
}

/**
 * The answer. `cancelled` means that no answer came because the turn is being cancelled;
 * `unavailable` that nobody is there to answer, with the true reason.
 */
export type PermissionAnswer =
  | { readonly kind: "allow_once" }
  | { readonly kind: "allow_session" }
  | { readonly kind: "reject_once" }
  | { readonly kind: "reject_session" }
  | { readonly kind: "cancelled" }
  | { readonly kind: "unavailable"; readonly reason: string };

/**
 * Asks the person at the front end. Must not throw; anything unexpected is `unavailable`, which
 * refuses. `signal` withdraws the question.
 */
export type AskPermission = (
  question: PermissionQuestion,
  options: { readonly signal: AbortSignal },
) => Promise<PermissionAnswer>;
