/**
 * `/agents` as far as it is about definitions: the list, one of them, a new one, a changed one.
 *
 * @module
 */
import { UserError } from "../base/errors.ts";
import type { DefinitionBook } from "./definition.ts";
import type { DefinitionPlaces } from "./definition_folders.ts";
import { definitionsText, definitionText } from "./definition_text.ts";

/** How the command is used. */
const USAGE = "/agents show <name>, /agents create <name> [project | user] <what it is for>, " +
  "/agents set <name> <field> <value>";

/** Options of {@linkcode definitionsCommand}. */
export interface DefinitionsCommandOptions {
  /** What stands after `/agents`; empty for the list. */
  readonly rest: string;
  readonly book: DefinitionBook;
  readonly places: DefinitionPlaces;
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
  const { rest, book, places, signal } = options;
  const [verb, name, more] = words(rest);
  if (verb === "") return definitionsText(await book.current());
  if (!["show", "create", "set"].includes(verb)) {
    throw new UserError(`/agents does not know "${verb}": ${USAGE}`);
  }
  if (name === "") throw new UserError(`/agents ${verb} needs the name of a subagent: ${USAGE}`);
  if (verb === "show") {
    const found = await book.find(name);
    if ("error" in found) throw new UserError(found.error);
    return definitionText(found.definition);
  }
  const { createDefinition, setDefinitionField } = await import("./edit_definitions.ts");
  const [first, after] = split(more);
  if (verb === "create") {
    const scope = first === "user" || first === "project" ? first : undefined;
    const path = await createDefinition({
      name,
      description: scope === undefined ? more : after,
      scope: scope ?? "project",
      places,
    });
    return `Wrote "${path}". Say in it how the subagent works; it can be used at once.`;
  }
  const definition = await setDefinitionField({ name, field: first, value: after, places, signal });
  return definitionText(definition);
}

/** The first two words, and all that follows. */
function words(text: string): [string, string, string] {
  const [first, rest] = split(text);
  const [second, more] = split(rest);
  return [first, second, more];
}

function split(text: string): [string, string] {
  const [, first = "", rest = ""] = /^\s*(\S*)\s*([\s\S]*?)\s*$/u.exec(text) ?? [];
  return [first, rest];
}
