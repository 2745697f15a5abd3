/**
 * The end of a prompt as the protocol says it.
 *
 * @module
 */
import type { PromptResponse, StopReason } from "@agentclientprotocol/sdk";
import { describeEnd, type End, type IncompleteLimit } from "../base/ends.ts";
import type { PromptResult } from "../session/types.ts";
import { failure } from "./errors.ts";
import { metaOf } from "./meta.ts";

const LIMIT_STOPS: Record<IncompleteLimit, StopReason> = {
  output: "max_tokens",
  turns: "max_turn_requests",
  refusal: "refusal",
  loop: "max_turn_requests",
};

/** Options of {@linkcode promptReply}. */
export interface PromptReplyOptions {
  /** The asked agent of a typed ask, which is then what ended; else this agent's turn. */
  readonly speaker: string | undefined;
  readonly redact: (text: string) => string;
}

/** Returns the answer to a prompt that was cancelled. */
export function cancelledReply(label: string): PromptResponse {
  return { stopReason: "cancelled", _meta: metaOf({ end: "cancelled", label }) };
}

/**
 * Returns the answer to a prompt that ended by itself.
 *
 * @throws {RequestError} when the turn failed: the protocol has no stop reason for that.
 */
export function promptReply(result: PromptResult, options: PromptReplyOptions): PromptResponse {
  const { end, label, usage } = result;
  const facts = {
    end: end.kind,
    label,
    ...(end.kind === "incomplete" ? { limit: end.limit } : {}),
    ...(usage === undefined ? {} : { usage }),
  };
  const stopReason = stopOf(end);
  if (stopReason === undefined) {
    throw failure(options.redact(failureWords(end, options.speaker)), { mm: facts });
  }
  return { stopReason, _meta: metaOf(facts) };
}

function stopOf(end: End): StopReason | undefined {
  switch (end.kind) {
    case "answered":
    // The person was told the reason as text; the protocol's "refusal" is the model's, and editors
    // drop the turn from their history for it.
    case "refused":
      return "end_turn";
    case "incomplete":
      return LIMIT_STOPS[end.limit];
    case "cancelled":
      return "cancelled";
    case "timed_out":
    case "died":
    case "failed":
      return undefined;
  }
}

function failureWords(end: End, speaker: string | undefined): string {
  // The reason of a failure is a sentence of its own.
  if (end.kind === "failed" && speaker === undefined) return end.reason;
  return describeEnd(end, speaker ?? "The turn");
}
