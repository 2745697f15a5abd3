/**
 * The names of runs: mm's own, never a model's, short enough for a small model to repeat.
 *
 * @module
 */

/** Random bytes of an id: 16 million of them, of which a session sees some hundred. */
const BYTES = 3;

/** Returns a new id: `task-1f09ab`. */
export function newRunId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(BYTES));
  return `task-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** Says whether a text has the form of an id. Anything else is never used as a part of a path. */
export function isRunId(text: string): boolean {
  return /^task-[0-9a-f]{6}$/u.test(text);
}
