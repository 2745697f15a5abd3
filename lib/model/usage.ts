/**
 * Adding up what servers count.
 *
 * @module
 */
import type { Usage } from "./types.ts";

/** Returns the sum of two counts. What neither of them knows stays unknown. */
export function addUsage(a: Usage | undefined, b: Usage): Usage {
  if (a === undefined) return b;
  const sum = (key: "cachedTokens" | "cost") =>
    a[key] === undefined && b[key] === undefined ? {} : { [key]: (a[key] ?? 0) + (b[key] ?? 0) };
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    ...sum("cachedTokens"),
    ...sum("cost"),
  };
}
