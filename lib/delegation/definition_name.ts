/**
 * The names of subagents.
 *
 * @module
 */
import { quotable } from "../config/problems.ts";

/** The name under which a copy of the conversation is started; no definition has it. */
export const FORK = "fork";

/** The definition that is taken where a call names none. */
export const DEFAULT_DEFINITION = "general-purpose";

/** Fewest and most characters of a name. */
const MIN_NAME = 2;
const MAX_NAME = 50;

/** What something else is called, or would be mistaken for. */
const RESERVED: ReadonlySet<string> = new Set([
  "self",
  "system",
  "user",
  "model",
  "tool",
  "config",
  "default",
  "main",
  FORK,
]);

/** Returns what is wrong with a name, or `undefined`: `"name" is "a b", but …`. */
export function definitionNameError(name: string): string | undefined {
  const is = `"name" is "${quotable(name)}", but`;
  const { length } = [...name];
  if (length < MIN_NAME || length > MAX_NAME) {
    return `${is} a name has ${MIN_NAME} to ${MAX_NAME} characters`;
  }
  if (!/^[\p{L}\p{N}]+(?:[-_]+[\p{L}\p{N}]+)*$/u.test(name)) {
    return `${is} a name has letters, digits, "-" and "_", and begins and ends with a letter or digit`;
  }
  if (RESERVED.has(name.toLowerCase())) return `${is} that name is reserved; take another one`;
  return undefined;
}

/** Returns what two spellings of a name have in common: names are looked up in any case. */
export function nameKey(name: string): string {
  return name.normalize("NFC").toLowerCase();
}
