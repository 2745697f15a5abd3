/**
 * Tools that a configuration names and an agent does not have all the same.
 *
 * @module
 */
import { AGENT, RUN_TOOLS } from "./tool_names.ts";
import type { AgentConfig } from "./types.ts";

/** Returns a sentence, without a period, where tools of the list are left out. */
export function lostTools({ tools, delegation }: AgentConfig): string[] {
  const lost = tools?.filter((name) => RUN_TOOLS.includes(name)) ?? [];
  if (lost.length === 0) return [];
  const [names, are] = [lost.join(", "), lost.length === 1 ? "is" : "are"];
  if (tools?.includes(AGENT) !== true) {
    return [
      `"tools" names ${names} and not ${AGENT}, so ${
        lost.length === 1 ? "it is" : "they are"
      } left out; add ${AGENT} to it`,
    ];
  }
  if (delegation.background !== "never") return [];
  return [`"tools" names ${names}, which ${are} left out: "agents.background" is never`];
}
