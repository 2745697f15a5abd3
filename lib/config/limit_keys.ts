/**
 * The keys that bound how much and how long.
 *
 * @module
 */
import { count, duration } from "./fields.ts";

/** The keys that bound how much and how long. */
export const limitKeys = {
  maxOutput: count({ min: 100, max: 10_000_000 }).default(20_000).describe(
    "Characters of one tool result, or of one asked agent's answer, that reach the model.",
  ),
  bashTimeout: duration().prefault("30s").describe(
    "Budget of one command of the bash tool, when the model names none.",
  ),
  bashTimeoutMax: duration().prefault("10m").describe(
    "The longest budget the model may name for one command.",
  ),
  watchdogTimeout: duration().prefault("5m").describe(
    "A turn without a sign of life for this long is ended.",
  ),
  maxTurns: count().optional().describe(
    "Model requests in one turn. Absent: no limit.",
  ),
};
