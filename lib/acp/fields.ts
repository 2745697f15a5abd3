/**
 * Reading what the other side sent. Nothing that comes over the wire is trusted to have its type.
 *
 * @module
 */

/** An object whose fields are not known yet. */
export type Fields = Readonly<Record<string, unknown>>;

/** Returns `value` when it is an object that is no array, else an empty one. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

/** Whether `value` is an object that is no array. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns `value` when it is a string that is not empty. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Returns `value` when it is a whole number of at least `least`. */
export function countOf(value: unknown, least = 0): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= least ? value as number : undefined;
}

/** Returns `value` when it is an array, else an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
