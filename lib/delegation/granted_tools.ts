/**
 * What a definition gets of the tools of the agent that starts it, for a person.
 *
 * @module
 */
import { ASK_AGENT } from "../agents/ask_agent_tool.ts";
import type { AgentConfig } from "../config/types.ts";
import type { AgentDefinition } from "./definition.ts";
import { NOT_FOR_SUBAGENTS, subagentTools } from "./subagent_tools.ts";

/** Where a definition is used. */
export interface DefinitionSetting {
  readonly config: Pick<AgentConfig, "tools" | "maxTurns" | "agents" | "delegation">;
  /** How deep the agent that starts it is in a chain. */
  readonly depth: number;
}

/** Returns its tools there, and what it names and does not get: `read, grep (not here: bash)`. */
export function grantedToolsText(
  { tools, withoutTools }: Pick<AgentDefinition, "tools" | "withoutTools">,
  { config, depth }: DefinitionSetting,
): string {
  const granted = (wanted: readonly string[] | undefined) =>
    subagentTools({
      configured: config.tools,
      wanted,
      without: withoutTools,
      depth: depth + 1,
      maxDepth: config.delegation.maxDepth,
    }).filter((name) => name !== ASK_AGENT || config.agents.length > 0);
  const has = granted(tools).map(shown);
  const missing = (tools ?? []).filter((name) =>
    !NOT_FOR_SUBAGENTS.has(name) && !withoutTools.includes(name) && granted([name]).length === 0
  );
  return (has.length === 0 ? "none" : has.join(", ")) +
    (missing.length === 0 ? "" : ` (not here: ${missing.join(", ")})`);
}

/** A pattern that mm put together, in words. */
function shown(entry: string): string {
  const [first = "", ...terms] = entry.split("&");
  const but = terms.filter((term) => term.startsWith("!")).map((term) => term.slice(1));
  const also = terms.filter((term) => !term.startsWith("!"));
  return [first, ...also].join(" that are ") +
    (but.length === 0 ? "" : ` but ${but.join(" and ")}`);
}
