/**
 * How long a server asks to wait.
 *
 * @module
 */

/**
 * Returns the milliseconds that `Retry-After` (RFC 9110, section 10.2.3: seconds or a date) or
 * `retry-after-ms` names, or `undefined` when there is none that can be read. Not capped.
 *
 * @param now milliseconds since 1970.
 */
export function retryAfter(headers: Headers, now: number = Date.now()): number | undefined {
  const exact = numberOf(headers.get("retry-after-ms"));
  if (exact !== undefined) return exact;
  const value = headers.get("retry-after")?.trim();
  if (value === undefined) return undefined;
  const seconds = numberOf(value);
  if (seconds !== undefined) return seconds * 1000;
  // Only what looks like a date: Date.parse() takes much else for one.
  if (!/^[A-Z][a-z]{2,8},? .*\d{2}:\d{2}:\d{2}/u.test(value) && !/^\d{4}-\d{2}-/u.test(value)) {
    return undefined;
  }
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function numberOf(text: string | null): number | undefined {
  return text !== null && /^\d+(\.\d+)?$/u.test(text.trim()) ? Number(text) : undefined;
}
