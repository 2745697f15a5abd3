/**
 * How `mm --ask -json` says what came of an ask.
 *
 * @module
 */
import { describeEnd, type End, exitStatusOf, type IncompleteLimit } from "../base/ends.ts";
import type { Usage } from "../model/types.ts";

/** What came of an ask. */
export interface AskOutcome {
  readonly agent: string;
  readonly end: End;
  readonly answer: string;
  readonly label?: string;
  readonly usage?: Usage;
  readonly toolCalls: number;
  readonly durationMs: number;
}

/** Returns the outcome as one line of JSON with its newline. */
export function jsonLine(outcome: AskOutcome): string {
  const { agent, end, answer, label, usage, toolCalls, durationMs } = outcome;
  return JSON.stringify({
    agent,
    model: label ?? null,
    answer,
    stopReason: stopReasonOf(end),
    exit: exitStatusOf(end),
    durationMs,
    usage: usage ?? null,
    toolCalls,
    ...(end.kind === "answered" ? {} : { error: describeEnd(end, agent) }),
  }) + "\n";
}

const STOP_REASONS: Readonly<Record<IncompleteLimit, string>> = {
  output: "max_tokens",
  turns: "max_turn_requests",
  refusal: "refusal",
  loop: "loop",
};

/** Returns the word for an end: ACP's own where it has one. */
export function stopReasonOf(end: End): string {
  switch (end.kind) {
    case "answered":
      return "end_turn";
    case "incomplete":
      return STOP_REASONS[end.limit];
    default:
      return end.kind;
  }
}
