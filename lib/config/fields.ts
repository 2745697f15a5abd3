/**
 * The kinds of values that keys of the configuration have. Each says in its error what the value
 * must be; the key and the place are added by who reports it.
 *
 * @module
 */
import * as z from "zod";
import { parseDuration } from "../base/duration.ts";

/** Longest duration, in milliseconds: timers of JavaScript cannot run longer than 24.8 days. */
const MAX_DURATION_MS = 7 * 24 * 3_600_000;

/** Largest count of anything, tokens and characters included. */
const MAX_COUNT = 1_000_000_000;

const DURATION_FORM = "must be a duration such as 500ms, 30s, 5m or 1h, or a number of seconds";

/** Text that says something, of at most `max` UTF-16 units. */
export function text(options: { readonly max?: number } = {}) {
  const { max = 1_000_000 } = options;
  const empty = { error: "must not be empty", abort: true };
  return z.string({ error: "must be text" }).min(1, empty)
    .refine((value) => value.trim() !== "", empty)
    .max(max, { error: `must have at most ${max} characters` });
}

/** Text on one line, without control characters. */
export function line(options: { readonly max?: number } = {}) {
  return text({ max: options.max ?? 500 })
    .refine((value) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(value), {
      error: "must be one line without control characters",
    });
}

/** A path of a file or directory. It is made absolute later, where the file's place is known. */
export function path() {
  return line({ max: 4096 });
}

/** `true` or `false`. */
export function flag() {
  return z.boolean({ error: "must be true or false" });
}

/** A whole number from `min` to `max`. */
export function count(options: { readonly min?: number; readonly max?: number } = {}) {
  const { min = 1, max = MAX_COUNT } = options;
  const error = `must be a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

/** A number from `min` to `max`. */
export function number(options: { readonly min: number; readonly max: number }) {
  const error = `must be a number from ${options.min} to ${options.max}`;
  return z.number({ error }).min(options.min, { error }).max(options.max, { error });
}

/** A duration; its value is in milliseconds. */
export function duration() {
  const written = z.union([
    z.string().regex(/^\s*\d+(\.\d+)?\s*(ms|s|m|h)?\s*$/u, { error: DURATION_FORM }),
    z.number().min(0, { error: DURATION_FORM }),
  ], { error: DURATION_FORM });
  return written.transform((value, context) => {
    const ms = parseDuration(value);
    if (ms !== undefined && ms >= 1 && ms <= MAX_DURATION_MS) return ms;
    context.addIssue(
      ms === undefined
        ? DURATION_FORM
        : `must be a duration from 1 ms to ${MAX_DURATION_MS / 3_600_000} h`,
    );
    return z.NEVER;
  });
}

/** One of several words. */
export function oneOf<const T extends readonly [string, ...string[]]>(words: T) {
  return z.enum(words, { error: `must be one of ${words.join(", ")}` });
}

/** A list; `of` completes its error. */
export function list<T extends z.ZodType>(item: T, of: string) {
  return z.array(item, { error: `must be a list of ${of}` });
}

/** A map with fixed keys; others are errors. */
export function group<T extends z.core.$ZodLooseShape>(shape: T) {
  const keys = Object.keys(shape);
  return z.strictObject(shape, {
    // Undefined leaves unknown keys to who reports them: each gets an error of its own.
    error: (issue) =>
      issue.code === "invalid_type"
        ? `must be a map with the key${keys.length === 1 ? "" : "s"} ${keys.join(", ")}`
        : undefined,
  });
}
