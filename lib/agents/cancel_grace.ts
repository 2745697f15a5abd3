/**
 * What happens after a cancel was sent to an asked agent: who asked waits a moment for its last
 * words, and a child that never answers is ended.
 *
 * @module
 */
import { CANCEL_GRACE_MS, CANCEL_WAIT_MS } from "./ask_limits.ts";

/** Options of {@linkcode CancelGrace}. */
export interface CancelGraceOptions {
  /** The cancel. */
  readonly signal: AbortSignal;
  /** The answer to the prompt. */
  readonly replied: Promise<unknown>;
  /** Ends the child. */
  readonly kill: () => void;
}

/** The time an asked agent has after a cancel. */
export class CancelGrace {
  /** Rejects with the signal's reason when the moment after the cancel is over. */
  readonly expired: Promise<never>;

  /** Begins to watch; the time runs from the cancel on. */
  constructor(options: CancelGraceOptions) {
    const { signal, replied, kill } = options;
    const timers: ReturnType<typeof setTimeout>[] = [];
    let expire: (reason: unknown) => void = () => {};
    this.expired = new Promise((_, reject) => expire = reject);
    // Nobody may be waiting any more when it rejects.
    this.expired.catch(() => {});
    const begin = () => {
      timers.push(setTimeout(() => expire(signal.reason), CANCEL_WAIT_MS));
      timers.push(setTimeout(kill, CANCEL_GRACE_MS));
    };
    const end = () => {
      signal.removeEventListener("abort", begin);
      for (const timer of timers) clearTimeout(timer);
    };
    if (signal.aborted) begin();
    else signal.addEventListener("abort", begin, { once: true });
    replied.then(end, end);
  }
}
