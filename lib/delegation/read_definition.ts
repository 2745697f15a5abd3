/**
 * One file with a definition of a subagent.
 *
 * @module
 */
import { basename } from "node:path";
import { readTextFile } from "../config/text_file.ts";
import type { AgentDefinition, DefinitionFault, DefinitionSource } from "./definition.ts";
import { readFields } from "./definition_fields.ts";
import { definitionNameError } from "./definition_name.ts";
import { versionOf } from "./definition_version.ts";
import { readFrontMatter } from "./front_matter.ts";

/** A file with a definition. */
export type DefinitionFile = Extract<DefinitionSource, { kind: "file" }>;

/** What came of reading. Of a fault, `declared` says whether the file itself has the name. */
export type ReadDefinition =
  | { readonly definition: AgentDefinition }
  | { readonly fault: DefinitionFault; readonly declared: boolean };

/** Largest file, in bytes. */
export const MAX_DEFINITION_BYTES = 256 * 1024;

/** Faults of a file that are said, and notes; more are counted. */
const MAX_SAID = 12;

/** Fewest characters of a prompt. */
export const MIN_PROMPT = 10;

/**
 * Reads a definition. Never throws for what the file is or holds.
 *
 * @returns `undefined` where there is no such file any more.
 */
export async function readDefinition(source: DefinitionFile): Promise<ReadDefinition | undefined> {
  const read = await readTextFile(source.path, { maxBytes: MAX_DEFINITION_BYTES });
  switch (read.kind) {
    case "absent":
      return undefined;
    case "unusable": {
      const line = read.line === undefined ? "" : ` (line ${read.line})`;
      return faultOf(source, `${read.reason}${line}`);
    }
    case "text":
      return parseDefinition(read.text, source);
  }
}

/** Reads the text of a definition. */
export function parseDefinition(text: string, source: DefinitionFile): ReadDefinition {
  const { dialect } = source;
  const front = readFrontMatter(text, { lenient: dialect !== "mm" });
  if ("error" in front) return faultOf(source, front.error);
  const read = readFields(front.values, { dialect });
  const faults = [
    ...("faults" in read ? read.faults : []),
    ...([...front.body].length < MIN_PROMPT
      ? [`its text, the system prompt, must have at least ${MIN_PROMPT} characters`]
      : []),
  ];
  if ("faults" in read || faults.length > 0) {
    const name = "faults" in read ? read.name : read.fields.name;
    return faultOf(source, `is not valid: ${said(faults).join("; ")}`, name);
  }
  const notes = said([
    ...(front.lenient ? ["the front matter is not valid YAML, and was read line by line"] : []),
    ...read.fields.notes,
  ]);
  const fields = { ...read.fields, notes, prompt: front.body };
  return { definition: { ...fields, source, version: versionOf(fields) } };
}

function said(sentences: readonly string[]): string[] {
  const more = sentences.length - MAX_SAID;
  return more <= 0 ? [...sentences] : [...sentences.slice(0, MAX_SAID), `and ${more} more`];
}

function faultOf(source: DefinitionFile, what: string, declared?: string): ReadDefinition {
  const stem = basename(source.path).replace(/\.md$/iu, "");
  const name = declared ?? (definitionNameError(stem) === undefined ? stem : undefined);
  return {
    fault: {
      path: source.path,
      ...(name === undefined ? {} : { name }),
      reason: `The definition "${source.path}" ${what}`,
    },
    declared: declared !== undefined,
  };
}
