/**
 * Writing definitions for a person: a new file, or one field of a file. Only files of mm are changed.
 *
 * @module
 */
import { mkdir, readFile, realpath, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { stringify } from "yaml";
import { messageOf, UserError } from "../base/errors.ts";
import { didYouMean } from "../base/nearest.ts";
import { quotable } from "../config/problems.ts";
import { atomicWrite } from "../tools/atomic_write.ts";
import { BUILTIN_DEFINITIONS } from "./builtin_definitions.ts";
import type { AgentDefinition } from "./definition.ts";
import { openDefinitionBook } from "./definition_book.ts";
import type { DefinitionPlaces } from "./definition_folders.ts";
import { EDITABLE_FIELDS, type EditableField } from "./definition_keys.ts";
import { definitionNameError, nameKey } from "./definition_name.ts";
import { definitionTemplate } from "./definition_template.ts";
import { type DefinitionFile, parseDefinition } from "./read_definition.ts";
import { replaceField } from "./replace_field.ts";
import { splitEntries } from "./tool_entries.ts";

/** Options of {@linkcode createDefinition}. */
export interface CreateDefinitionOptions {
  readonly name: string;
  readonly description: string;
  /** In the project, or for all projects of the user. */
  readonly scope: "project" | "user";
  readonly places: DefinitionPlaces;
}

/**
 * Writes a commented file with a new definition.
 *
 * @returns its path.
 * @throws {UserError} when the name cannot be one, is taken or built in, or the file cannot be written.
 */
export async function createDefinition(options: CreateDefinitionOptions): Promise<string> {
  const { name, description, scope, places } = options;
  const error = definitionNameError(name);
  if (error !== undefined) throw new UserError(`Cannot create the subagent: ${error}`);
  if (description.trim() === "") {
    throw new UserError(`Cannot create the subagent "${name}": say after its name what it is for`);
  }
  const base = scope === "project" ? join(places.cwd, ".mm") : join(places.configDir, "mm");
  const path = join(base, "agents", `${name}.md`);
  // A file that has everything in place of one that only reads is nothing that happens by the way.
  if (BUILTIN_DEFINITIONS.some((one) => nameKey(one.name) === nameKey(name))) {
    throw new UserError(
      `Cannot create the subagent "${name}": it is built in (/agents show ${name}); take another name, ` +
        `or write "${path}" yourself to take its place`,
    );
  }
  const agent = places.agents?.find((one) => nameKey(one) === nameKey(name));
  if (agent !== undefined) {
    throw new UserError(
      `Cannot create the subagent "${name}": ${agent} is an agent of mmConfigs; take another name`,
    );
  }
  const taken = await findDefinition(name, places);
  if (taken?.source.kind === "file" && comesFirst(taken.source, scope)) {
    throw new UserError(
      `Cannot create the subagent "${name}": "${taken.source.path}" defines it already`,
    );
  }
  const text = definitionTemplate({ name, description });
  const read = parseDefinition(text, { kind: "file", path, dialect: "mm", scope });
  if ("fault" in read) throw new UserError(read.fault.reason);
  try {
    await mkdir(dirname(path), { recursive: true });
    // A file that stands there is never written over, whatever is in it.
    await writeFile(path, text, { flag: "wx" });
  } catch (cause) {
    const exists = cause instanceof Error && "code" in cause && cause.code === "EEXIST";
    const why = exists ? "it exists already" : messageOf(cause);
    throw new UserError(`Cannot write "${path}": ${why}`, { cause });
  }
  return path;
}

/** Options of {@linkcode setDefinitionField}. */
export interface SetDefinitionFieldOptions {
  readonly name: string;
  readonly field: string;
  /** As it was typed; `-` to remove the field. Names of tools with commas; `none` for no tool. */
  readonly value: string;
  readonly places: DefinitionPlaces;
  readonly signal: AbortSignal;
}

/** What became of a field. */
export interface ChangedField {
  /** Of the definition, as it is written. */
  readonly name: string;
  /** The file, as it was found: perhaps a link. */
  readonly path: string;
  readonly field: EditableField;
  /** As it stands in the file; `undefined` where the field was removed. */
  readonly yaml: string | undefined;
}

/**
 * Changes one field of a definition; all else in its file stays as it is, byte for byte.
 *
 * @returns what was written, and the file.
 * @throws {UserError} when there is no such definition of mm's, or the value cannot be used.
 */
export async function setDefinitionField(
  options: SetDefinitionFieldOptions,
): Promise<ChangedField> {
  const { name, value, places, signal } = options;
  const field = editableField(options.field);
  const definition = await findDefinition(name, places);
  if (definition === undefined) throw new UserError(await whyNone(name, places));
  const source = ownFile(definition);
  const cannot = (why: string, cause?: unknown) =>
    new UserError(`Cannot set "${field}" of "${definition.name}": ${why}`, { cause });
  const path = await realpath(source.path);
  const like = await stat(path);
  const bytes = await readFile(path);
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  const yaml = yamlOf(field, value);
  const replaced = replaceField(text, field, yaml);
  if ("error" in replaced) throw cannot(replaced.error);
  const read = parseDefinition(replaced.text.replace(/^\ufeff/u, ""), source);
  if ("fault" in read) throw cannot(read.fault.reason);
  // What a person sets is not to be left out silently: a tool that there is not, a model of others.
  const notes = read.definition.notes.filter((note) => !definition.notes.includes(note));
  if (notes.length > 0) throw cannot(notes.join("; "));
  if (read.definition.name !== definition.name) throw cannot(`change the file "${path}" itself`);
  await atomicWrite(path, new TextEncoder().encode(replaced.text), {
    like,
    verify: async () => {
      if (!(await readFile(path)).equals(bytes)) throw cannot("its file was changed meanwhile");
    },
    signal,
  }).catch((cause: unknown) => {
    if (cause instanceof UserError || signal.aborted) throw cause;
    throw cannot(messageOf(cause), cause);
  });
  return { name: definition.name, path: source.path, field, yaml };
}

/** Whether a definition counts at least as much as the one that is to be written. */
function comesFirst({ dialect, scope }: DefinitionFile, wanted: "project" | "user"): boolean {
  const own = scope === wanted && dialect === "mm";
  return wanted === "project" ? own : own || scope !== "user";
}

/**
 * Returns the field of a name.
 *
 * @throws {UserError} when there is none, with the fields that there are.
 */
export function editableField(name: string): EditableField {
  const field = EDITABLE_FIELDS.find((known) => known === name);
  if (field !== undefined) return field;
  const which = name === "" ? "Say which field to set" : `Cannot set the field "${quotable(name)}"`;
  const hint = didYouMean(name, EDITABLE_FIELDS);
  throw new UserError(`${which}; the fields are ${EDITABLE_FIELDS.join(", ")}${hint}`);
}

function ownFile({ name, source }: AgentDefinition): DefinitionFile {
  if (source.kind === "builtin") {
    throw new UserError(
      `Cannot change the subagent "${name}", which is built in; write a file with that name to take its place`,
    );
  }
  if (source.dialect !== "mm") {
    throw new UserError(
      `Cannot change the subagent "${name}": "${source.path}" was written for another program; ` +
        "change the file itself, or create one of that name to take its place",
    );
  }
  return source;
}

async function findDefinition(
  name: string,
  places: DefinitionPlaces,
): Promise<AgentDefinition | undefined> {
  const found = await (await openDefinitionBook(places)).find(name);
  return "definition" in found ? found.definition : undefined;
}

async function whyNone(name: string, places: DefinitionPlaces): Promise<string> {
  const found = await (await openDefinitionBook(places)).find(name);
  return "error" in found ? found.error : `The definition of "${quotable(name)}" was just changed`;
}

/** Returns a value as it stands in the file, on one line; `undefined` for none. */
function yamlOf(field: EditableField, typed: string): string | undefined {
  const value = typed.trim();
  if (value === "-") return undefined;
  const written = (of: unknown) =>
    stringify(of, { lineWidth: 0, blockQuote: false, collectionStyle: "flow" }).trimEnd();
  switch (field) {
    case "tools":
    case "disallowedTools": {
      const names = value === "none" ? [] : splitEntries(value.replaceAll(/[[\]"']/gu, "")) ?? [];
      return `[${names.map(written).join(", ")}]`;
    }
    case "maxTurns":
      return /^\d+$/u.test(value) ? value : written(value);
    case "background":
      return value === "true" || value === "false" ? value : written(value);
    default:
      return written(value.replaceAll(/\s+/gu, " "));
  }
}
