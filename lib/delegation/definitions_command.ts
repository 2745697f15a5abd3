/**
 * `/agents` as far as it is about definitions: the list, one of them, a new one, a changed one.
 *
 * @module
 */
import { UserError } from "../base/errors.ts";
import { quotable } from "../config/problems.ts";
import type { DefinitionBook } from "./definition.ts";
import type { DefinitionPlaces } from "./definition_folders.ts";
import { FORK, nameKey } from "./definition_name.ts";
import { definitionsText, definitionText, fieldText } from "./definition_text.ts";
import { forkProfilesText, listForkProfiles } from "./fork_profiles.ts";
import type { DefinitionSetting } from "./granted_tools.ts";

/** How the command is used. */
const USAGE = "/agents show <name>, /agents create [--user] <name> <what it is for>, " +
  "/agents set <name> <field> [<value> | -]";

/** The word before a name: the file is for all projects of the user. */
const FOR_USER = "--user";

/** Options of {@linkcode definitionsCommand}. */
export interface DefinitionsCommandOptions {
  /** What stands after `/agents`; empty for the list. */
  readonly rest: string;
  readonly book: DefinitionBook;
  readonly places: DefinitionPlaces;
  /** Where the definitions are used. */
  readonly setting: DefinitionSetting;
  /** Whether there are forks: the list then has their profiles too. */
  readonly forks: boolean;
  readonly signal: AbortSignal;
}

/**
 * Carries the command out.
 *
 * @returns what it says, and whether it was carried out. Rejects only with the signal's reason.
 */
export async function definitionsCommand(
  options: DefinitionsCommandOptions,
): Promise<{ readonly ok: boolean; readonly text: string }> {
  try {
    return { ok: true, text: await carriedOut(options) };
  } catch (error) {
    if (error instanceof UserError) return { ok: false, text: error.message };
    throw error;
  }
}

async function carriedOut(options: DefinitionsCommandOptions): Promise<string> {
  const { rest, book, places, setting, forks, signal } = options;
  const [verb, words] = split(rest);
  if (verb === "") {
    const list = definitionsText(await book.current(), setting);
    const profiles = forks ? forkProfilesText(await listForkProfiles(places.cwd)) : "";
    return profiles === "" ? list : `${list}\n\nProfiles of forks:\n${profiles}`;
  }
  if (!["show", "create", "set"].includes(verb)) {
    throw new UserError(`/agents does not know "${verb}": ${USAGE}`);
  }
  const user = verb === "create" && split(words)[0] === FOR_USER;
  const [name, more] = split(user ? words.slice(FOR_USER.length) : words);
  if (name === "") throw new UserError(`/agents ${verb} needs the name of a subagent: ${USAGE}`);
  if (verb === "show" && nameKey(name) === FORK) {
    throw new UserError(`"${FORK}" is a copy of the conversation, and has no definition`);
  }
  if (verb === "show") {
    const found = await book.find(name);
    if ("error" in found) throw new UserError(found.error);
    return definitionText(found.definition, setting);
  }
  const { createDefinition, editableField, setDefinitionField } = await import(
    "./edit_definitions.ts"
  );
  if (verb === "create") {
    if (more.startsWith("--")) {
      throw new UserError(`/agents create takes no "${quotable(split(more)[0])}": ${USAGE}`);
    }
    const path = await createDefinition({
      name,
      description: more,
      scope: user ? "user" : "project",
      places,
    });
    return `Wrote "${path}". It can be used at once; its text says how the subagent works.`;
  }
  const [first, value] = split(more);
  if (value === "") {
    const field = editableField(first);
    const found = await book.find(name);
    if ("error" in found) throw new UserError(found.error);
    return `${found.definition.name}: ${fieldText(found.definition, field)}`;
  }
  const changed = await setDefinitionField({ name, field: first, value, places, signal });
  const what = changed.yaml === undefined
    ? `Removed ${changed.field} from`
    : `Wrote ${changed.field}: ${changed.yaml} to`;
  return `${what} "${changed.path}"`;
}

/** The first word, and all that follows. */
function split(text: string): [string, string] {
  const [, first = "", rest = ""] = /^\s*(\S*)\s*([\s\S]*?)\s*$/u.exec(text) ?? [];
  return [first, rest];
}
