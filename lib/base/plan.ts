/**
 * A plan: what an agent means to do, as people see it.
 *
 * @module
 */

/** The states of an entry, in the words of ACP. */
export const PLAN_STATUSES = ["pending", "in_progress", "completed"] as const;

/** How important an entry is. */
export const PLAN_PRIORITIES = ["high", "medium", "low"] as const;

/** One entry of a plan. */
export interface PlanEntry {
  /** What is to be done. */
  readonly content: string;
  /** How far it is. */
  readonly status: (typeof PLAN_STATUSES)[number];
  /** How much it matters. */
  readonly priority: (typeof PLAN_PRIORITIES)[number];
}

/** Returns how far a plan is: `2 of 5 done`. */
export function planProgress(entries: readonly PlanEntry[]): string {
  const done = entries.filter(({ status }) => status === "completed").length;
  return `${done} of ${entries.length} done`;
}
