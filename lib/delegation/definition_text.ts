/**
 * Definitions as a person reads them: the list of `/agents`, and one of them whole.
 *
 * @module
 */
import { oneLine } from "../base/cut.ts";
import { formatDuration } from "../base/duration.ts";
import type { AgentDefinition, CurrentDefinitions } from "./definition.ts";
import type { EditableField } from "./definition_keys.ts";
import { type DefinitionSetting, grantedToolsText } from "./granted_tools.ts";

/** UTF-16 units of a description in the list. */
const DESCRIPTION_LENGTH = 200;

const DIALECTS = { mm: "", qwen: ", written for Qwen Code", claude: ", written for Claude Code" };

const SCOPES = { project: "project", listed: "agents.paths", user: "user" };

/** Lines about files that are not used; more are counted. */
const MAX_UNUSED = 20;

/**
 * Returns the list: each with its source, what it gets there, and what of it is not done; then the faults,
 * and the files that are not used.
 */
export function definitionsText(
  { definitions, faults, unused }: CurrentDefinitions,
  setting: DefinitionSetting,
): string {
  return [
    ...definitions.map((definition) =>
      [
        `${definition.name} - ${oneLine(definition.description, DESCRIPTION_LENGTH)}`,
        `  ${
          [
            sourceText(definition),
            `tools: ${grantedToolsText(definition, setting)}`,
            ...(definition.model === undefined ? [] : [`model: ${definition.model}`]),
            ...limitsText(definition, setting),
            ...(definition.background === undefined
              ? []
              : [definition.background ? "in the background" : "waited for"]),
          ].join("; ")
        }`,
        ...definition.notes.map((note) => `  ${note}`),
      ].join("\n")
    ),
    ...faults.map(({ reason }) => reason),
    ...unused.slice(0, MAX_UNUSED).map(({ reason }) => reason),
    ...(unused.length > MAX_UNUSED ? [`and ${unused.length - MAX_UNUSED} more are not used`] : []),
  ].join("\n");
}

/** Returns everything about a definition, its prompt included. */
export function definitionText(definition: AgentDefinition, setting: DefinitionSetting): string {
  const { name, description, model, maxTurns, maxTimeMs, background, notes, prompt } = definition;
  const limits = [
    ...(maxTurns === undefined ? [] : [`${maxTurns} model requests`]),
    ...(maxTimeMs === undefined ? [] : [formatDuration(maxTimeMs)]),
  ];
  return [
    `${name} - ${description}`,
    `from: ${sourceText(definition)}`,
    `tools: ${toolsText(definition)}`,
    `here: ${grantedToolsText(definition, setting)}`,
    `model: ${model ?? "the one in use"}`,
    `longest run: ${limits.length === 0 ? "no limit of its own" : limits.join(", ")}`,
    `in the background: ${
      background === undefined ? "as the configuration says" : background ? "yes" : "no"
    }`,
    ...notes.map((note) => `note: ${note}`),
    "",
    prompt,
  ].join("\n");
}

/** Returns what a field says, or what holds where it says nothing: `model: m`. */
export function fieldText(definition: AgentDefinition, field: EditableField): string {
  const { description, tools, withoutTools, model, maxTurns, maxTimeMs, background } = definition;
  const notSet = (what: string) => `${field} is not set: ${what}`;
  const list = (names: readonly string[]) => names.length === 0 ? "none" : names.join(", ");
  switch (field) {
    case "description":
      return `${field}: ${description}`;
    case "tools":
      return tools === undefined ? notSet("all tools") : `${field}: ${list(tools)}`;
    case "disallowedTools":
      return withoutTools.length === 0
        ? notSet("nothing is taken away")
        : `${field}: ${list(withoutTools)}`;
    case "model":
      return model === undefined ? notSet("the model in use") : `${field}: ${model}`;
    case "maxTurns":
      return maxTurns === undefined ? notSet("that of the configuration") : `${field}: ${maxTurns}`;
    case "maxTime":
      return maxTimeMs === undefined
        ? notSet("no limit")
        : `${field}: ${formatDuration(maxTimeMs)}`;
    case "background":
      return background === undefined
        ? notSet("as the configuration says")
        : `${field}: ${background}`;
  }
}

/** The limits of a definition; a smaller one of the configuration holds. */
function limitsText(
  { maxTurns, maxTimeMs }: AgentDefinition,
  { config }: DefinitionSetting,
): string[] {
  const turns = maxTurns === undefined
    ? undefined
    : Math.min(maxTurns, config.maxTurns ?? maxTurns);
  return [
    ...(turns === undefined ? [] : [`at most ${turns} model requests`]),
    ...(maxTimeMs === undefined ? [] : [`at most ${formatDuration(maxTimeMs)}`]),
  ];
}

function sourceText({ source }: AgentDefinition): string {
  if (source.kind === "builtin") return "built in";
  return `${source.path} (${SCOPES[source.scope]}${DIALECTS[source.dialect]})`;
}

function toolsText({ tools, withoutTools }: AgentDefinition): string {
  const but = withoutTools.length === 0 ? "" : ` but ${withoutTools.join(", ")}`;
  if (tools === undefined) return `all${but}`;
  return tools.length === 0 ? "none" : tools.join(", ") + but;
}
