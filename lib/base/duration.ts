/**
 * Durations as people write them: `500ms`, `30s`, `5m`, or a number of seconds.
 *
 * @module
 */

const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/**
 * Returns milliseconds for a duration, or `undefined` when it is none.
 *
 * @param value a number of seconds, or a number with the unit `ms`, `s`, `m` or `h`.
 */
export function parseDuration(value: string | number): number | undefined {
  if (typeof value === "number") return finite(value * 1000);
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h)?$/u.exec(value.trim());
  if (match === null) return undefined;
  return finite(Number(match[1]) * (UNIT_MS[match[2] ?? "s"] ?? 1000));
}

/** Returns a duration in milliseconds as people read it: `850 ms`, `1.2 s`, `5 min`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${Number((ms / 1000).toFixed(1))} s`;
  return `${Number((ms / 60_000).toFixed(1))} min`;
}

function finite(ms: number): number | undefined {
  return Number.isFinite(ms) && ms >= 0 ? Math.round(ms) : undefined;
}
