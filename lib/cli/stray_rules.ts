/**
 * Rules of the gate that can match nothing: about agents and tools that there are not, or about calls
 * that nobody asks about.
 *
 * @module
 */
import { didYouMean } from "../base/nearest.ts";
import { quotable } from "../config/problems.ts";
import { TOOL_NAMES, UNGATED_TOOLS } from "../config/tool_names.ts";
import type { AgentEntry } from "../config/types.ts";
import { FORK, nameKey } from "../delegation/definition_name.ts";
import { parseRule } from "../gate/rules.ts";
import type { DefinitionPlacesOptions } from "./definition_places.ts";

/** A rule about one agent, or the tool `agent` about one. */
interface AgentRule {
  readonly list: "allow" | "ask" | "deny";
  /** `permissions.deny[0]`. */
  readonly key: string;
  /** The first part of the name; for a rule `agent(x)` its pattern. */
  readonly agent: string;
  /** The rest of the name, with its parts; absent for a rule `agent(x)`. */
  readonly tool?: readonly string[];
}

/** The names that rules can have. */
interface Known {
  readonly entries: readonly AgentEntry[];
  /** The subagents that there are, the fork included. */
  readonly subagents: readonly string[];
}

/**
 * Returns a sentence for each rule that looks like protection, or leave, and is none. Which subagents
 * there are depends on the directory, so it is no error.
 */
export async function strayRules(options: DefinitionPlacesOptions): Promise<string[]> {
  const { permissions, agents } = options.config;
  const rules = (["allow", "ask", "deny"] as const).flatMap((list) =>
    permissions[list].flatMap((source, at) => agentRule(source, list, at))
  );
  const named = new Set([FORK, ...agents.map(({ name }) => nameKey(name))]);
  const needed = rules.some(({ agent }) => !isPattern(agent) && !named.has(nameKey(agent)));
  const defined = needed ? await definedNames(options) : [];
  const known = { entries: agents, subagents: [FORK, ...defined] };
  return rules.flatMap((rule) => {
    const fault = faultOf(rule, known);
    return fault === undefined ? [] : [`The rule "${rule.key}" ${fault}`];
  });
}

/** Reads the folders of definitions, which no other rule needs. */
async function definedNames(options: DefinitionPlacesOptions): Promise<string[]> {
  const [{ openDefinitionBook }, { definitionPlaces }] = await Promise.all([
    import("../delegation/definition_book.ts"),
    import("./definition_places.ts"),
  ]);
  const { offered } = await openDefinitionBook(definitionPlaces(options));
  return offered.map(({ name }) => name);
}

function agentRule(source: string, list: AgentRule["list"], at: number): AgentRule[] {
  const rule = parseRule(source);
  if (rule === undefined) return [];
  const key = `permissions.${list}[${at}]`;
  const [agent = "", ...tool] = rule.name.split("/");
  if (tool.length > 0) return [{ list, key, agent, tool }];
  if (rule.name !== "agent" || rule.pattern === undefined || rule.pattern.includes("*")) return [];
  return [{ list, key, agent: rule.pattern.trim() }];
}

/** Returns why a rule can match nothing, as the end of a sentence. */
function faultOf({ list, agent, tool }: AgentRule, known: Known): string | undefined {
  const { entries, subagents } = known;
  const isCalled = (name: string) => nameKey(name) === nameKey(agent);
  const entry = entries.find(({ name }) => isCalled(name));
  if (isPattern(agent)) {
    // An agent of another make may have any tools.
    if (entries.some(({ command }) => command !== undefined)) return undefined;
    return tool?.length === 1 ? unknownTool(tool[0] ?? "", list) : undefined;
  }
  if (entry === undefined && !subagents.some(isCalled)) {
    const hint = didYouMean(agent, [...entries.map(({ name }) => name), ...subagents]);
    const what = tool === undefined ? "subagent" : "agent";
    return `is about the ${what} "${quotable(agent)}", which is not in mmConfigs, and no ` +
      `subagent here has that name${hint}`;
  }
  if (tool === undefined || entry?.command !== undefined) return undefined;
  if (tool.length === 1) {
    const fault = unknownTool(tool[0] ?? "", list);
    if (fault !== undefined) return fault;
  }
  const last = tool.at(-1)?.toLowerCase() ?? "";
  if (list === "allow" || !UNGATED_TOOLS.has(last)) return undefined;
  if (entry !== undefined) {
    const file = quotable(entry.path ?? entry.name);
    return `holds nothing: ${quotable(agent)} asks nobody before ${last}; write the rule into ` +
      `permissions.${list} of "${file}", without the agent before it`;
  }
  if (tool.length === 1) return undefined;
  const own = quotable([tool.at(-2), last].join("/"));
  return `holds nothing: a subagent of a subagent asks nobody before ${last}; write "${own}"`;
}

function unknownTool(tool: string, list: AgentRule["list"]): string | undefined {
  // What restricts takes the name of a tool in any case.
  const name = list === "allow" ? tool : tool.toLowerCase();
  if (isPattern(name) || TOOL_NAMES.includes(name) || name.startsWith("mcp__")) return undefined;
  return `is about the tool "${quotable(tool)}", which there is not${didYouMean(tool, TOOL_NAMES)}`;
}

function isPattern(name: string): boolean {
  return /[*?[]/u.test(name);
}
