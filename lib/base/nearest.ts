/**
 * The nearest known name for a misspelt one.
 *
 * @module
 */
import { distance } from "fastest-levenshtein";

/** Returns the candidate nearest to `name`, or `undefined` when none is near enough to be meant. */
export function nearest(name: string, candidates: readonly string[]): string | undefined {
  const wanted = name.toLowerCase();
  let best: string | undefined;
  // A third of the letters may differ: enough for typing errors, too few for another word.
  let bestDistance = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const candidate of candidates) {
    const found = distance(wanted, candidate.toLowerCase());
    if (found < bestDistance) {
      best = candidate;
      bestDistance = found;
    }
  }
  return best;
}

/** Returns `; did you mean "x"` for the nearest candidate, or an empty string. */
export function didYouMean(name: string, candidates: readonly string[]): string {
  const found = nearest(name, candidates);
  return found === undefined ? "" : `; did you mean "${found}"?`;
}
