/**
 * The time of a run, from the moment it has a slot: how much it was, and the longest it may be. What it
 * waits for, a person or a hook, is not its time.
 *
 * @module
 */
import { clearTimeout, setTimeout } from "node:timers";
import { formatDuration } from "../base/duration.ts";
import type { End } from "../base/ends.ts";

/** A clock that runs, and its limit. */
export interface TimeLimit {
  /** Aborted by the signal that was given, and when the time is over. */
  readonly signal: AbortSignal;
  /** How a run that the limit ended has ended; `undefined` while there is time. */
  readonly end: End | undefined;
  /** Milliseconds so far, without those while it stood still. */
  readonly elapsedMs: number;
  /** Stops the clock until the returned function is called; several can have it stopped at once. */
  pause(): () => void;
  /** Ends it, for good. */
  stop(): void;
}

/** Begins a limit of `ms` milliseconds; none where that is `undefined`, where only the time is taken. */
export function timeLimit(
  options: { readonly ms: number | undefined; readonly signal: AbortSignal },
): TimeLimit {
  return new Clock(options);
}

class Clock implements TimeLimit {
  readonly signal: AbortSignal;
  readonly #ms: number | undefined;
  readonly #asked: AbortSignal;
  readonly #over = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Milliseconds until it stood still last. */
  #before = 0;
  /** When it began to run last; `undefined` while it stands still. */
  #since: number | undefined;
  #pauses = 0;
  #stopped = false;

  constructor({ ms, signal }: { readonly ms: number | undefined; readonly signal: AbortSignal }) {
    this.#ms = ms;
    this.#asked = signal;
    this.signal = ms === undefined ? signal : AbortSignal.any([signal, this.#over.signal]);
    this.#run();
  }

  get end(): End | undefined {
    if (this.#ms === undefined || !this.#over.signal.aborted || this.#asked.aborted) {
      return undefined;
    }
    const most = formatDuration(this.#ms);
    return {
      kind: "failed",
      reason: `it took longer than ${most}, the most its definition allows`,
    };
  }

  get elapsedMs(): number {
    return this.#before + (this.#since === undefined ? 0 : performance.now() - this.#since);
  }

  pause(): () => void {
    if (this.#pauses++ === 0) this.#halt();
    let resumed = false;
    return () => {
      if (resumed) return;
      resumed = true;
      if (--this.#pauses === 0 && !this.#stopped) this.#run();
    };
  }

  stop(): void {
    this.#stopped = true;
    this.#halt();
  }

  #run(): void {
    this.#since = performance.now();
    if (this.#ms === undefined) return;
    const left = Math.max(0, this.#ms - this.#before);
    this.#timer = setTimeout(() => this.#over.abort(), left);
  }

  #halt(): void {
    this.#before = this.elapsedMs;
    this.#since = undefined;
    clearTimeout(this.#timer);
  }
}
