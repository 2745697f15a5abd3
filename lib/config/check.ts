/**
 * Checking a value against its part of the schema, in words for people.
 *
 * @module
 */
import * as z from "zod";
import { didYouMean } from "../base/nearest.ts";
import { formatPath, type KeyPath, quotable } from "./problems.ts";
import { agentFileSchema } from "./schema.ts";
import { UNSUPPORTED_ENTRY_KEYS, UNSUPPORTED_HOOKS, UNSUPPORTED_KEYS } from "./unsupported_keys.ts";

/** One fault of a value. */
export interface Fault {
  readonly path: KeyPath;
  /** Whether the key itself is wrong or what it holds. */
  readonly of: "key" | "value";
  /** The whole sentence: `"temperature" must be …, not 3`. */
  readonly text: string;
  /** The sentence without the key, for a value that came from elsewhere: `must be …, not 3`. */
  readonly predicate: string;
}

/** A checked value, or what is wrong with it. */
export type Checked = { readonly value: unknown } | { readonly faults: readonly Fault[] };

/** Options of {@linkcode check}. */
export interface CheckOptions {
  /** The path of the value in the file. */
  readonly path: KeyPath;
  /** The text that is quoted for a value instead of the value itself. */
  readonly written?: (path: KeyPath) => string | undefined;
}

/** Up to so many keys are listed where none is near the one that was written. */
const MAX_KEYS_LISTED = 8;

/** Values of these keys are never quoted: they are secrets, may hold one or are just long. */
const UNQUOTED: readonly RegExp[] = [
  /^(?:apiKey|baseUrl|system)$/u,
  /^(?:headers|system)\./u,
  /^mmConfigs\.[^.]+\.(?:env|command)/u,
  /^mcpServers\.[^.]+\.(?:args|env|headers|url)/u,
  /^hooks\..+\.run$/u,
];

const MISSING = "is missing";

/** Checks a value. Returns what the schema makes of it, or every fault. */
export function check(schema: z.ZodType, raw: unknown, options: CheckOptions): Checked {
  const result = schema.safeParse(raw);
  if (result.success) return { value: result.data };
  const faults = result.error.issues.flatMap((issue) => faultsOf(issue, [], raw, options));
  // Where a key is misspelt, the one that was meant is not missing as well.
  const misspelt = new Set(
    faults.filter(isUnknown).map(({ path }) => formatPath(path.slice(0, -1))),
  );
  return {
    faults: faults.filter(({ path, predicate }) =>
      predicate !== MISSING || !misspelt.has(formatPath(path.slice(0, -1)))
    ),
  };
}

/** Returns the fault of a key that does not exist where it stands. */
export function unknownKey(path: KeyPath, known: readonly string[]): Fault {
  const name = String(path.at(-1) ?? "");
  const unsupported = path.length === 1
    ? UNSUPPORTED_KEYS
    : isEntry(path.slice(0, -1))
    ? UNSUPPORTED_ENTRY_KEYS
    : path.length === 2 && path[0] === "hooks"
    ? UNSUPPORTED_HOOKS
    : [];
  if (unsupported.includes(name)) {
    const predicate = "is not supported by this version of mm; remove it";
    return { path, of: "key", text: `key "${formatPath(path)}" ${predicate}`, predicate };
  }
  let hint = didYouMean(name, known);
  if (hint === "" && known.length <= MAX_KEYS_LISTED) {
    hint = known.length === 1
      ? `; the only key here is "${known[0]}"`
      : `; the keys here are ${known.join(", ")}`;
  }
  return {
    path,
    of: "key",
    text: `unknown key "${formatPath(path)}"${hint}`,
    predicate: `is unknown${hint}`,
  };
}

function faultsOf(
  issue: z.core.$ZodIssue,
  above: KeyPath,
  raw: unknown,
  options: CheckOptions,
): Fault[] {
  const inside = [...above, ...issue.path.map((p) => (typeof p === "symbol" ? String(p) : p))];
  const path = [...options.path, ...inside];
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => unknownKey([...path, key], keysAt(agentFileSchema, path)));
    case "invalid_key":
      return [fault(path, "key", issue.issues[0]?.message ?? issue.message)];
    case "invalid_union": {
      // Only the kind of value that was written is worth talking about.
      const meant = issue.errors.find((errors) =>
        errors.length > 0 && !errors.some((e) => e.code === "invalid_type" && e.path.length === 0)
      );
      if (meant !== undefined) return meant.flatMap((e) => faultsOf(e, inside, raw, options));
    }
  }
  const found = valueAt(raw, inside);
  if (found === null) return [fault(path, "value", "has no value; give it one or remove the key")];
  if (found === undefined) return [fault(path, "key", MISSING)];
  // A map as a whole is found by its key; its value begins at the first key inside.
  const of = typeof found === "object" ? "key" : "value";
  return [fault(path, of, predicateOf(issue, found, path, options))];
}

/** Completes the words of the schema with the value and with what may have been meant. */
function predicateOf(
  issue: z.core.$ZodIssue,
  found: unknown,
  path: KeyPath,
  options: CheckOptions,
): string {
  const value = quotedValue(found, path, options);
  const { message } = issue;
  if (!message.startsWith("must be ")) {
    const inList = value !== undefined && typeof path.at(-1) === "number";
    return inList && issue.code === "custom" ? `is ${value}, which ${message}` : message;
  }
  const wantsText = issue.code === "invalid_type" && issue.expected === "string" &&
    (typeof found === "number" || typeof found === "boolean");
  if (wantsText) return `${message}, not ${value ?? `a ${typeof found}`}; put it in quotes`;
  const hint = issue.code === "invalid_value" && typeof found === "string" && value !== undefined
    ? didYouMean(found, issue.values.map(String))
    : "";
  return `${message}${value === undefined ? "" : `, not ${value}`}${hint}`;
}

/** Returns a value as it is shown, or `undefined` when it must not or cannot be. */
function quotedValue(found: unknown, path: KeyPath, options: CheckOptions): string | undefined {
  if (Array.isArray(found)) return "a list";
  if (typeof found === "object") return "a map";
  if (UNQUOTED.some((pattern) => pattern.test(formatPath(path)))) return undefined;
  if (typeof found === "number" || typeof found === "boolean") return String(found);
  if (typeof found !== "string" || found.trim() === "") return undefined;
  return `"${quotable(options.written?.(path) ?? found)}"`;
}

function fault(path: KeyPath, of: "key" | "value", predicate: string): Fault {
  return { path, of, predicate, text: `"${formatPath(path)}" ${predicate}` };
}

function isUnknown({ text }: Fault): boolean {
  return text.startsWith("unknown key ");
}

function isEntry(path: KeyPath): boolean {
  return path.length === 2 && path[0] === "mmConfigs";
}

function valueAt(raw: unknown, path: KeyPath): unknown {
  let value = raw;
  for (const part of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) {
      return undefined;
    }
    value = (value as Record<string | number, unknown>)[part];
  }
  return value;
}

/** Returns the keys that the schema knows at a path, none where it has no fixed ones. */
function keysAt(schema: z.core.$ZodType, path: KeyPath): readonly string[] {
  let at: z.core.$ZodType | undefined = schema;
  for (const part of path) at = at === undefined ? undefined : below(unwrapped(at), part);
  const end = at === undefined ? undefined : unwrapped(at);
  return end instanceof z.ZodObject ? Object.keys(end.shape) : [];
}

function below(schema: z.core.$ZodType, part: string | number): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodObject) {
    return (schema.shape as Record<string, z.core.$ZodType>)[part];
  }
  if (schema instanceof z.ZodRecord) return schema.valueType;
  if (schema instanceof z.ZodArray) return schema.element;
  return undefined;
}

function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  if (
    schema instanceof z.ZodOptional || schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault
  ) return unwrapped(schema.unwrap());
  if (schema instanceof z.ZodUnion) {
    return schema.options.map(unwrapped).find((o) => o instanceof z.ZodObject) ?? schema;
  }
  return schema;
}
