/**
 * The longest time of a run, from the moment it has a slot.
 *
 * @module
 */
import { clearTimeout, setTimeout } from "node:timers";
import { formatDuration } from "../base/duration.ts";
import type { End } from "../base/ends.ts";

/** A limit that runs. */
export interface TimeLimit {
  /** Aborted by the signal that was given, and when the time is over. */
  readonly signal: AbortSignal;
  /** How a run that the limit ended has ended; `undefined` while there is time. */
  readonly end: End | undefined;
  stop(): void;
}

/** Begins a limit of `ms` milliseconds; none where that is `undefined`. */
export function timeLimit(
  options: { readonly ms: number | undefined; readonly signal: AbortSignal },
): TimeLimit {
  const { ms, signal } = options;
  if (ms === undefined) return { signal, end: undefined, stop: () => {} };
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), ms);
  return {
    signal: AbortSignal.any([signal, over.signal]),
    get end(): End | undefined {
      if (!over.signal.aborted || signal.aborted) return undefined;
      const reason = `it took longer than ${formatDuration(ms)}, the most its definition allows`;
      return { kind: "failed", reason };
    },
    stop: () => clearTimeout(timer),
  };
}
