/**
 * Random choices that come again with the same seed.
 *
 * @module
 */

/** A source of random choices. */
export class Random {
  #state: number;

  /** Begins with a seed; the same seed gives the same choices. */
  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A number from 0 up to 1. */
  next(): number {
    // Mulberry32: short, and even enough for choices.
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `min` to `max`. */
  whole(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  /** True so often. */
  chance(share: number): boolean {
    return this.next() < share;
  }

  /** One of several. */
  one<T>(values: readonly [T, ...T[]]): T {
    return values[Math.floor(this.next() * values.length)] ?? values[0];
  }

  /** One of several, the heavier the more often. */
  weighted<T>(
    values: readonly [readonly [weight: number, value: T], ...(readonly [number, T])[]],
  ): T {
    let at = this.next() * values.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, value] of values) {
      at -= weight;
      if (at < 0) return value;
    }
    return values[0][1];
  }

  /** Text of so many characters, with what breaks programs that count wrong. */
  text(min: number, max: number): string {
    const length = this.whole(min, max);
    const words = [
      "lorem",
      "ipsum",
      "é",
      "🙂",
      "字",
      "[cancelled]",
      "User:",
      "\n",
      "```",
      "\ud83d",
    ];
    let text = "";
    while (text.length < length) text += `${words[this.whole(0, words.length - 1)]} `;
    return text.slice(0, length);
  }
}
