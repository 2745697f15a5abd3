/**
 * Words for what is wrong with a YAML text. The library's own words are not used: some of them
 * quote the source, which may hold a secret.
 *
 * @module
 */
import type { ErrorCode } from "yaml";

const TEXTS: Partial<Record<ErrorCode, string>> = {
  BAD_DQ_ESCAPE: 'invalid escape after "\\" in double quotes; write "\\\\" or use single quotes',
  BAD_INDENT: "wrong indentation, or a list or map that is not closed before this place",
  BAD_SCALAR_START: 'a value cannot start with "@" or "`"; put it in quotes',
  BLOCK_AS_IMPLICIT_KEY:
    "a second key on the same line, or a line indented too far; put a value with a colon in quotes",
  BLOCK_IN_FLOW: "an indented list or map cannot stand inside [ ] or { }",
  DUPLICATE_KEY: "duplicate key",
  KEY_OVER_1024_CHARS: "a key of more than 1024 characters",
  MISSING_CHAR: "a closing quote, a colon after a key or a comma is missing",
  MULTIPLE_ANCHORS: "a value can have only one anchor",
  MULTIPLE_DOCS: "a second document begins; one file describes one agent",
  MULTIPLE_TAGS: "a value can have only one tag",
  MULTILINE_IMPLICIT_KEY: "a key cannot go over several lines; is a colon missing?",
  NON_STRING_KEY: "a key has to be text",
  RESOURCE_EXHAUSTION: "values are nested too deeply",
  TAB_AS_INDENT: "a tab used for indentation; use spaces",
  TAG_RESOLVE_FAILED:
    'a tag ("!…") has no meaning here; put a value that starts with "!" in quotes',
  UNEXPECTED_TOKEN: "something stands where nothing can, such as a bracket that was never opened",
};

/** A place in a text. */
export interface TextPlace {
  readonly text: string;
  /** In UTF-16 units. */
  readonly offset: number;
}

/** Returns what is wrong, for a code of the `yaml` library, without a final period. */
export function yamlErrorText(code: ErrorCode, { text, offset }: TextPlace): string {
  // The mistake that our own notation invites.
  if (text.slice(Math.max(0, offset - 1), offset + 1) === "${") {
    return 'The YAML is not valid: inside [ ] and { }, a "${NAME}" has to stand in quotes';
  }
  return `The YAML is not valid: ${TEXTS[code] ?? code.toLowerCase().replaceAll("_", " ")}`;
}
