/**
 * Tells a front end that work goes on while there is nothing to show: an asking agent counts the
 * silence of the one it asked.
 *
 * @module
 */
import type { Emit } from "./events.ts";

/** Shortest time between two signs, in milliseconds; a stream has many pieces. */
const INTERVAL_MS = 500;

/** Returns a function to call at each sign of life; some of the calls become an event. */
export function signOfLife(emit: Emit): () => void {
  let last = -Infinity;
  return () => {
    const now = performance.now();
    if (now - last < INTERVAL_MS) return;
    last = now;
    emit({ type: "alive" });
  };
}
