/**
 * The watchdog of a turn: fires when nothing showed a sign of life for too long.
 *
 * @module
 */

/** Timers that are set for longer fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Options of {@linkcode Watchdog}. */
export interface WatchdogOptions {
  /** Longest silence, in milliseconds; `Infinity` for a watchdog that never fires. */
  readonly timeoutMs: number;
  /** Called once, after the longest silence. */
  readonly onTimeout: () => void;
}

/**
 * Counts silence. Time does not count while it is paused: a person is being asked, or a command runs
 * within its own budget.
 */
export class Watchdog {
  readonly #options: WatchdogOptions;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastLife = performance.now();
  #pauses = 0;
  #stopped = false;

  /** Starts counting. */
  constructor(options: WatchdogOptions) {
    this.#options = options;
    this.#arm(options.timeoutMs);
  }

  /** Notes a sign of life. Cheap: called for every piece of a stream. */
  touch(): void {
    this.#lastLife = performance.now();
  }

  /** Stops counting until the returned function is called; calls nest. */
  pause(): () => void {
    this.#pauses++;
    let resumed = false;
    return () => {
      if (resumed) return;
      resumed = true;
      this.#pauses--;
      this.touch();
    };
  }

  /** Ends the watchdog; it never fires afterwards. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #arm(ms: number): void {
    this.#timer = setTimeout(
      () => this.#look(),
      Math.min(Math.max(1, Math.ceil(ms)), MAX_TIMER_MS),
    );
  }

  #look(): void {
    if (this.#stopped) return;
    const { timeoutMs, onTimeout } = this.#options;
    // While paused nothing is due before a whole silence after the pause.
    const silence = this.#pauses > 0 ? 0 : performance.now() - this.#lastLife;
    if (silence < timeoutMs) return this.#arm(timeoutMs - silence);
    this.#stopped = true;
    onTimeout();
  }
}
