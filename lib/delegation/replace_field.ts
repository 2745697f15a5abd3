/**
 * Changing one field of front matter in its text, so that comments, order and the form of all else
 * stay.
 *
 * @module
 */
import { isMap, isScalar, type Pair, type ParsedNode } from "yaml";
import { findFrontMatter, parseFrontMatter } from "./front_matter.ts";

/**
 * Returns the text with a field set to a value.
 *
 * @param value YAML on one line; `undefined` to remove the field.
 * @returns the text, or why it cannot be changed: a sentence without a subject.
 */
export function replaceField(
  text: string,
  field: string,
  value: string | undefined,
): { readonly text: string } | { readonly error: string } {
  const span = findFrontMatter(text);
  if ("error" in span) return { error: `its file ${span.error}` };
  const parsed = parseFrontMatter(span.yaml);
  if ("error" in parsed) return { error: `its file ${parsed.error}` };
  const { contents } = parsed.document;
  if (contents === null || !isMap(contents) || contents.flow === true) {
    return { error: "its fields do not stand on lines of their own; change the file itself" };
  }
  const pair = contents.items.find(({ key }) => isScalar(key) && key.value === field);
  const yaml = pair === undefined
    ? value === undefined ? span.yaml : appended(span.yaml, field, value)
    : replaced(span.yaml, pair, field, value);
  return { text: text.slice(0, span.start) + yaml + text.slice(span.end) };
}

function appended(yaml: string, field: string, value: string): string {
  const end = yaml.includes("\r\n") ? "\r\n" : "\n";
  return `${yaml}${field}: ${value}${end}`;
}

function replaced(
  yaml: string,
  { key, value: node }: Pair<unknown, unknown>,
  field: string,
  value: string | undefined,
): string {
  const start = (key as ParsedNode).range?.[0] ?? 0;
  const last = (node ?? key) as ParsedNode;
  // A block value ends behind its line.
  const raw = yaml.slice(start, last.range?.[1] ?? start);
  const end = start + raw.trimEnd().length;
  if (value !== undefined) return `${yaml.slice(0, start)}${field}: ${value}${yaml.slice(end)}`;
  const line = yaml.indexOf("\n", end);
  return yaml.slice(0, start) + (line === -1 ? "" : yaml.slice(line + 1));
}
