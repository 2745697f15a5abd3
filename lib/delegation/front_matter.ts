/**
 * A Markdown file with front matter: the values between two lines of `---`, and the text below.
 *
 * @module
 */
import { type Document, isAlias, parseDocument, visit, type YAMLError } from "yaml";
import { yamlErrorText } from "../config/yaml_errors.ts";

/** A file that was taken apart. */
export interface FrontMatter {
  /** A map without a prototype. */
  readonly values: Readonly<Record<string, unknown>>;
  /** The text below, with line feeds, without blanks around it. */
  readonly body: string;
  /** Whether the values are no valid YAML and were read line by line. */
  readonly lenient: boolean;
}

/** Where the front matter stands in a text. */
export interface FrontMatterSpan {
  readonly yaml: string;
  /** In UTF-16 units, from the beginning of the text. */
  readonly start: number;
  readonly end: number;
  /** The text below. */
  readonly body: string;
}

/** Options of {@linkcode readFrontMatter}. */
export interface ReadFrontMatterOptions {
  /** Whether lines `key: text` that are no YAML are taken as the text they are. */
  readonly lenient: boolean;
}

/** UTF-16 units of front matter: what takes longest to read takes a moment, in a file of anybody. */
const MAX_YAML = 16_384;

/** Finds the front matter of a text, or says what is wrong with it: a sentence without a subject. */
export function findFrontMatter(text: string): FrontMatterSpan | { readonly error: string } {
  const opening = /^\ufeff?---[ \t]*\r?\n/u.exec(text);
  if (opening === null) {
    return { error: 'has no front matter: its first line must be "---", with the keys below it' };
  }
  const start = opening[0].length;
  const closing = /^---[ \t]*(?:\r?\n|$)/mu.exec(text.slice(start));
  if (closing === null) return { error: 'has no line "---" that ends its front matter' };
  if (closing.index > MAX_YAML) {
    return {
      error: `has front matter of ${closing.index} characters; at most ${MAX_YAML} are read`,
    };
  }
  const end = start + closing.index;
  return { yaml: text.slice(start, end), start, end, body: text.slice(end + closing[0].length) };
}

/** Reads a text, or says what is wrong with it: a sentence without a subject. Never throws. */
export function readFrontMatter(
  text: string,
  options: ReadFrontMatterOptions,
): FrontMatter | { readonly error: string } {
  const span = findFrontMatter(text);
  if ("error" in span) return span;
  const body = span.body.replaceAll("\r\n", "\n").trim();
  const strict = readValues(span.yaml);
  if (!("error" in strict)) return { values: strict.values, body, lenient: false };
  if (options.lenient) {
    // Other programs take `description: Use this: now` as it stands; a file of theirs may have it.
    const quoted = readValues(quoteLines(span.yaml));
    if (!("error" in quoted)) return { values: quoted.values, body, lenient: true };
  }
  return strict;
}

/** Parses the YAML of front matter for reading or changing; aliases and double keys are errors. */
export function parseFrontMatter(
  yaml: string,
): { readonly document: Document.Parsed } | { readonly error: string } {
  return bounded(() => {
    const document = parseDocument(yaml, {
      prettyErrors: false,
      uniqueKeys: true,
      schema: "core",
      merge: false,
      resolveKnownTags: false,
      logLevel: "error",
    });
    const [first] = [...document.errors, ...document.warnings];
    if (first !== undefined) return { error: syntaxError(yaml, first) };
    let alias = false;
    visit(document, {
      Node: (_, node) => {
        alias ||= isAlias(node);
      },
    });
    if (alias) return { error: "uses an alias (*name) in its front matter; write it out" };
    return { document };
  });
}

function readValues(
  yaml: string,
): { readonly values: Record<string, unknown> } | { readonly error: string } {
  const parsed = parseFrontMatter(yaml);
  if ("error" in parsed) return parsed;
  return bounded(() => {
    const value: unknown = parsed.document.toJS({ maxAliasCount: 0 });
    if (value === null) return { error: "has front matter without a key" };
    if (typeof value !== "object" || Array.isArray(value)) {
      return { error: "has front matter that is no map of keys to values" };
    }
    return { values: Object.assign(Object.create(null), value) };
  });
}

/** What is nested without end ends in a message. */
function bounded<T>(read: () => T): T | { readonly error: string } {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) return { error: "nests its values too deeply" };
    throw error;
  }
}

function syntaxError(yaml: string, { code, pos: [offset] }: YAMLError): string {
  // The first line of the file is the `---` above.
  const line = yaml.slice(0, offset).split("\n").length + 1;
  const words = yamlErrorText(code, { text: yaml, offset }).replace(
    /^The YAML is not valid: /u,
    "",
  );
  return `has front matter that is not valid YAML: line ${line}: ${words}`;
}

/** Puts the text of each plain `key: text` at the left edge in quotes. */
function quoteLines(yaml: string): string {
  return yaml.split(/\r?\n/u).map((line) => {
    const [, key, text] = /^([A-Za-z][\w-]*):[ \t]+([^\s"'[{|>&!].*)$/u.exec(line) ?? [];
    return key === undefined || text === undefined
      ? line
      : `${key}: ${JSON.stringify(text.trim())}`;
  }).join("\n");
}
