/**
 * A bounded number of things at the same time, first come, first served.
 *
 * @module
 */

/** Hands out a fixed number of slots. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** Creates as many free slots as given. */
  constructor(count: number) {
    this.#free = count;
  }

  /** Whether the next one has to wait. */
  get full(): boolean {
    return this.#free === 0;
  }

  /** How many wait for a slot. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Takes a slot, waiting for one where none is free.
   *
   * @returns a function that gives it back.
   * @throws the signal's reason when it is aborted while waiting.
   */
  async take(options: { readonly signal: AbortSignal }): Promise<() => void> {
    const { signal } = options;
    signal.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#wait(signal);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const next = this.#waiting.shift();
      // A slot that is waited for goes from hand to hand, so that nobody overtakes.
      if (next === undefined) this.#free++;
      else next();
    };
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const go = () => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1);
        reject(signal.reason);
      };
      signal.addEventListener("abort", leave, { once: true });
      this.#waiting.push(go);
    });
  }
}
