/**
 * The limits of asking: how deep a chain may go and how many asks run at the same time.
 *
 * @module
 */
import { MAX_ASK_DEPTH } from "../platform/ask_depth.ts";

/** Asks of one process that run at the same time; further ones wait. */
export const MAX_PARALLEL_ASKS = 8;

/** Asks that the model of one session may make; a loop of a model ends here at the latest. */
export const MAX_MODEL_ASKS = 200;

/** How long an agent may take to answer to a cancel before its process is killed, in milliseconds. */
export const CANCEL_GRACE_MS = 5000;

/** How long the asking side waits for the answer to a cancel before it goes on, in milliseconds. */
export const CANCEL_WAIT_MS = 1000;

/** How long a child may take to say hello, in milliseconds. */
export const CONNECT_TIMEOUT_MS = 30_000;

/** The least that a child has for that, however short its silence may be, in milliseconds. */
export const MIN_CONNECT_MS = 5000;

/** How long a child may take to open a session, in milliseconds. */
export const SESSION_TIMEOUT_MS = 60_000;

/** The one predicate of the depth limit: declares `ask_agent` and guards every ask. */
export function mayAsk(depth: number): boolean {
  return depth < MAX_ASK_DEPTH;
}

/** Why an agent at the depth limit asks nobody, for the person and the model. */
export const DEPTH_REASON =
  `this agent was itself asked, and a chain of asks ends after ${MAX_ASK_DEPTH} agents; finish the work with your own tools`;
