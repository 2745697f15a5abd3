/**
 * The arguments of a call, checked against the tool's schema: forgiving where the meaning is beyond
 * doubt, otherwise an error that tells the model which argument is wrong and what is expected.
 *
 * @module
 */
import { oneLine } from "../base/cut.ts";
import { didYouMean } from "../base/nearest.ts";

/** The part of a property's JSON Schema that is looked at. */
interface Property {
  readonly type?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
}

/** Characters of a wrong value that are shown. */
const SHOWN_VALUE = 60;

/**
 * Checks `raw` and converts what is safe to convert: a number written as text, `"true"`, a number
 * where text is expected, `null` or an empty text for an optional argument.
 *
 * @param raw what the model wrote, as parsed JSON; JSON text is parsed once more.
 * @param parameters JSON Schema of an object with flat properties.
 */
export function checkArguments(
  raw: unknown,
  parameters: Readonly<Record<string, unknown>>,
): { readonly values: Record<string, unknown> } | { readonly error: string } {
  const given = asObject(raw);
  const properties = (parameters["properties"] ?? {}) as Record<string, Property>;
  const required = new Set((parameters["required"] ?? []) as string[]);
  const names = Object.keys(properties);
  if (given === undefined) {
    const what = names.length === 0 ? "no arguments" : list(names);
    return { error: `expected a JSON object with ${what}, got ${shown(raw)}` };
  }
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(properties, name)) {
      faults.push(`"${name}" is not an argument${didYouMean(name, names)}`);
    }
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property === undefined || isAbsent(value, property, required.has(name))) continue;
    const converted = convert(value, property);
    if (fits(converted, property)) values[name] = converted;
    else faults.push(`"${name}" has to be ${expected(property)}, got ${shown(value)}`);
  }
  for (const name of required) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value === undefined || value === null) {
      faults.push(`"${name}" is missing, it has to be ${expected(properties[name] ?? {})}`);
    }
  }
  if (faults.length === 0) return { values };
  if (names.length === 0) return { error: `${faults.join("; ")}. This tool takes no arguments` };
  const all = list(names.map((name) => required.has(name) ? name : `${name} (optional)`));
  return { error: `${faults.join("; ")}. The arguments are ${all}` };
}

function asObject(raw: unknown): Record<string, unknown> | undefined {
  if (raw === undefined || raw === null || raw === "") return {};
  if (typeof raw === "string") {
    try {
      const parsed: unknown = JSON.parse(raw);
      return typeof parsed === "string" ? undefined : asObject(parsed);
    } catch {
      return undefined;
    }
  }
  return typeof raw === "object" && !Array.isArray(raw)
    ? raw as Record<string, unknown>
    : undefined;
}

function isAbsent(value: unknown, property: Property, required: boolean): boolean {
  if (value === undefined || value === null) return true;
  return !required && value === "" && property.type !== undefined;
}

function convert(value: unknown, property: Property): unknown {
  switch (property.type) {
    case "number":
    case "integer":
      return typeof value === "string" && /^\s*[+-]?\d+(?:\.\d+)?\s*$/u.test(value)
        ? Number(value)
        : value;
    case "boolean":
      if (value === "true" || value === "True") return true;
      return value === "false" || value === "False" ? false : value;
    case "array":
      return typeof value === "string" ? parsedList(value) : value;
    case "string":
      return typeof value === "number" || typeof value === "boolean" ? String(value) : value;
    default:
      return value;
  }
}

/** Some models write a list as a text once more. */
function parsedList(text: string): unknown {
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed : text;
  } catch {
    return text;
  }
}

function fits(value: unknown, property: Property): boolean {
  switch (property.type) {
    case "number":
    case "integer":
      return typeof value === "number" && Number.isFinite(value) &&
        (property.type === "number" || Number.isInteger(value)) &&
        value >= (property.minimum ?? -Infinity) && value <= (property.maximum ?? Infinity);
    case "boolean":
      return typeof value === "boolean";
    case "string":
      return typeof value === "string" && value.length >= (property.minLength ?? 0);
    case "array":
      return Array.isArray(value);
    default:
      return true;
  }
}

function expected(property: Property): string {
  switch (property.type) {
    case "number":
    case "integer": {
      const noun = property.type === "integer" ? "a whole number" : "a number";
      const from = property.minimum === undefined ? "" : ` of at least ${property.minimum}`;
      return property.maximum === undefined
        ? noun + from
        : `${noun}${from === "" ? " of" : `${from} and`} at most ${property.maximum}`;
    }
    case "boolean":
      return "true or false";
    case "string":
      return property.minLength === undefined ? "text" : "text that is not empty";
    case "array":
      return "a list";
    default:
      return "a value";
  }
}

function shown(value: unknown): string {
  return oneLine(JSON.stringify(value) ?? String(value), SHOWN_VALUE);
}

function list(names: readonly string[]): string {
  return names.length < 2
    ? names.join("")
    : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;
}
