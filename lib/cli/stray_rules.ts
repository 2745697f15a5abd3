/**
 * Rules of the gate about agents that there are not.
 *
 * @module
 */
import { agentOfRule } from "../config/permission_keys.ts";
import { quotable } from "../config/problems.ts";
import { FORK, nameKey } from "../delegation/definition_name.ts";
import type { DefinitionPlacesOptions } from "./definition_places.ts";

/**
 * Returns a sentence for each rule about a name that neither `mmConfigs` nor a subagent has: it looks
 * like protection. Whether a subagent has it depends on the directory, so it is no error.
 */
export async function strayRules(options: DefinitionPlacesOptions): Promise<string[]> {
  const { permissions, agents } = options.config;
  const known = new Set([FORK, ...agents.map(({ name }) => nameKey(name))]);
  const stray = (["allow", "ask", "deny"] as const).flatMap((list) =>
    permissions[list].flatMap((rule, index) => {
      const agent = agentOfRule(rule);
      if (agent === undefined || /[*?[]/u.test(agent) || known.has(nameKey(agent))) return [];
      return [{ key: `permissions.${list}[${index}]`, agent }];
    })
  );
  if (stray.length === 0) return [];
  const [{ openDefinitionBook }, { definitionPlaces }] = await Promise.all([
    import("../delegation/definition_book.ts"),
    import("./definition_places.ts"),
  ]);
  const { offered } = await openDefinitionBook(definitionPlaces(options));
  const defined = new Set(offered.map(({ name }) => nameKey(name)));
  return stray.filter(({ agent }) => !defined.has(nameKey(agent))).map(({ key, agent }) =>
    `The rule "${key}" is about the agent "${
      quotable(agent)
    }", which is not in mmConfigs, and no ` +
    "subagent here has that name"
  );
}
