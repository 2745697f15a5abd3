/**
 * The limits of delegation.
 *
 * @module
 */

/** Runs that the model of one session may start; a loop of a model ends here at the latest. */
export const MAX_MODEL_RUNS = 200;

/** How often it may make runs go on that had ended, likewise. */
export const MAX_MODEL_CONTINUATIONS = 200;

/** Runs that ended and are kept, so that they can go on; the oldest go first. */
export const MAX_KEPT_RUNS = 32;

/** What a run did lately that is remembered, in calls. */
export const MAX_ACTIVITY = 10;

/** UTF-16 units of a message to a run. */
export const MAX_MESSAGE = 65_536;

/** How often a `subagentStop` hook may send a run back. */
export const MAX_SENT_BACK = 8;

/** How long a stopped run may take until it is given up, in milliseconds. */
export const STOP_GRACE_MS = 5000;

/** How long `wait_agent` waits where the model names no time, and at most, in seconds. */
export const WAIT_SECONDS = 600;
export const MAX_WAIT_SECONDS = 3600;

/** The one predicate of the depth limit: declares `agent` and guards every run. */
export function mayDelegate(depth: number, maxDepth: number): boolean {
  return depth < maxDepth;
}

/** Whether runs in the background are possible: whoever was itself asked gets no notification. */
export function mayRunInBackground(depth: number, background: boolean | "never"): boolean {
  return depth === 0 && background !== "never";
}

/** Why an agent at the depth limit delegates to nobody, for the person and the model. */
export function depthReason(maxDepth: number): string {
  return maxDepth === 0
    ? "agents.maxDepth is 0, so this agent starts no subagents; do the work with your own tools"
    : `a chain of subagents ends after ${maxDepth} (agents.maxDepth); do the work with your own tools`;
}
