/**
 * What the benchmark's model says: shared by its server and by the measuring side.
 *
 * @module
 */

/** Pieces of the long answer. */
export const CHUNKS = 5000;

/** Asks at the same time. */
export const ASKS = 8;

/** How long the model of a slow ask thinks, in milliseconds. */
export const SLOW_MS = 1000;

/** Returns `n` pseudo-random words, the same each time. Some agents stop on repetition. */
export function words(n: number): string[] {
  const letters = "etaoinsrhldcumfpgwyb";
  let seed = 7;
  const below = (limit: number) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return (seed >>> 9) % limit;
  };
  return Array.from({ length: n }, () => {
    const length = 3 + below(6);
    return `${Array.from({ length }, () => letters[below(20)]).join("")} `;
  });
}
