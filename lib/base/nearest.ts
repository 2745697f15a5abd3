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
    const other = candidate.toLowerCase();
    const found = isSwap(wanted, other) ? 1 : distance(wanted, other);
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

/** Says whether two neighbouring letters changed places: one slip, where the distance counts two. */
function isSwap(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  let i = 0;
  while (i < a.length && a[i] === b[i]) i++;
  return i < a.length && a[i] === b[i + 1] && a[i + 1] === b[i] &&
    a.slice(i + 2) === b.slice(i + 2);
}
