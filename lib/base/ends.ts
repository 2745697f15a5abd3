/**
 * How anything ends: a turn, a tool call, an ask, a process. One taxonomy with its words, used by
 * the engine, the tools, the agents and the exit statuses.
 *
 * @module
 */

import { formatDuration } from "./duration.ts";

/**
 * What made an answer incomplete: the output limit, the turn limit, the model's refusal, or calls that
 * went in circles.
 */
export type IncompleteLimit = "output" | "turns" | "refusal" | "loop";

/** Who refused: a hook, the gate (a rule or a person), or the depth limit of a chain of asks. */
export type RefusedBy = "hook" | "permission" | "depth";

/** The way something ended. Exactly one for each turn, tool call and ask. */
export type End =
  | { readonly kind: "answered" }
  | { readonly kind: "incomplete"; readonly limit: IncompleteLimit }
  | { readonly kind: "refused"; readonly by: RefusedBy; readonly reason: string }
  | { readonly kind: "cancelled" }
  /** No sign of life for `afterMs` milliseconds, from `from` where that is known: `bob`. */
  | { readonly kind: "timed_out"; readonly afterMs: number; readonly from?: string }
  /** The process ended by itself; `stderr` holds its last lines, already free of secrets. */
  | {
    readonly kind: "died";
    readonly code: number | null;
    readonly signal: string | null;
    readonly stderr: string;
  }
  | { readonly kind: "failed"; readonly reason: string; readonly cause?: unknown };

/** The name of a way to end. */
export type EndKind = End["kind"];

/** Exit statuses of `mm -p` and `mm --ask`, part of the reference documentation. */
export const EXIT = {
  answered: 0,
  failed: 1,
  usage: 2,
  refused: 3,
  incomplete: 4,
  timedOut: 124,
  cancelled: 130,
} as const;

/** Returns the exit status for an end. */
export function exitStatusOf(end: End): number {
  switch (end.kind) {
    case "answered":
      return EXIT.answered;
    case "incomplete":
      return EXIT.incomplete;
    case "refused":
      return EXIT.refused;
    case "cancelled":
      return EXIT.cancelled;
    case "timed_out":
      return EXIT.timedOut;
    case "died":
    case "failed":
      return EXIT.failed;
  }
}

const LIMIT_WORDS: Record<IncompleteLimit, string> = {
  output: "output limit",
  turns: "turn limit",
  refusal: "the model refused",
  loop: "its calls went in circles",
};

/**
 * Returns one sentence that says how `subject` ended, without a final period.
 *
 * @param subject what ended, as the reader knows it: `bob`, `The turn`; empty where the reason of a
 * failure is a sentence of its own.
 */
export function describeEnd(end: End, subject: string): string {
  switch (end.kind) {
    case "answered":
      return `${subject} answered`;
    case "incomplete":
      return `${subject} stopped before the end: ${LIMIT_WORDS[end.limit]}`;
    case "refused":
      return `${subject} was refused: ${end.reason}`;
    case "cancelled":
      return `${subject} was cancelled`;
    case "timed_out":
      return `${subject} timed out after ${formatDuration(end.afterMs)} without a sign of life` +
        (end.from === undefined ? "" : ` from ${end.from}`);
    case "died": {
      const how = end.signal !== null
        ? `was killed by ${end.signal}`
        : `exited with status ${end.code ?? "unknown"}`;
      const last = end.stderr.trim();
      return `${subject} ${how}${last === "" ? "" : `; its last words: ${last}`}`;
    }
    case "failed":
      return subject === "" ? end.reason : `${subject} failed: ${end.reason}`;
  }
}
