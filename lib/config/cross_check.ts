/**
 * What must fit together across the keys of a configuration.
 *
 * @module
 */
import { formatDuration } from "../base/duration.ts";
import { didYouMean } from "../base/nearest.ts";
import { agentOfRule } from "./permission_keys.ts";
import { formatPath, type KeyPath } from "./problems.ts";
import type { AgentFile, AgentFileKey } from "./schema.ts";

/** Two keys that do not fit together; the path says which of them is to blame. */
export interface Misfit {
  readonly path: readonly [AgentFileKey, ...(string | number)[]];
  readonly text: string;
}

/** Options of {@linkcode misfits}. */
export interface MisfitsOptions {
  /** Keys that somebody set, in the file or by an override. */
  readonly given: ReadonlySet<AgentFileKey>;
  /** Keys that have a problem of their own and are not compared. */
  readonly invalid: ReadonlySet<AgentFileKey>;
}

/** Returns everything that does not fit together. */
export function misfits(values: AgentFile, options: MisfitsOptions): Misfit[] {
  const valid = (...keys: AgentFileKey[]) => !keys.some((key) => options.invalid.has(key));
  const found: Misfit[] = [];
  const { bashTimeout, bashTimeoutMax } = values;
  if (valid("bashTimeout", "bashTimeoutMax") && bashTimeout > bashTimeoutMax) {
    found.push({
      path: [options.given.has("bashTimeout") ? "bashTimeout" : "bashTimeoutMax"],
      text: `"bashTimeout" (${formatDuration(bashTimeout)}) must not be longer than ` +
        `"bashTimeoutMax" (${formatDuration(bashTimeoutMax)})`,
    });
  }
  if (
    valid("provider", "baseUrl") && values.provider === "custom" && values.baseUrl === undefined
  ) {
    found.push({
      path: ["provider"],
      text: '"provider" is custom, which has no address of its own; set "baseUrl" too',
    });
  }
  const { compaction } = values;
  if (valid("compaction") && compaction.keep >= compaction.threshold) {
    found.push({
      path: ["compaction", "keep"],
      text: `"compaction.keep" (${compaction.keep}) must be less than "compaction.threshold" ` +
        `(${compaction.threshold}): what is kept would call for the next compression`,
    });
  }
  if (valid("permissions", "mmConfigs")) found.push(...strangers(values));
  return found;
}

/** The form of the name of an agent or a subagent. */
const AGENT_NAME = /^[\p{L}\p{N}][\p{L}\p{N}_-]*$/u;

/**
 * Rules for agents that nobody can ask: they would look like protection and match nothing. A name
 * that is like no agent's may be a subagent's; which those are is known when a session begins.
 */
function strangers({ permissions, mmConfigs = {} }: AgentFile): Misfit[] {
  const names = Object.keys(mmConfigs);
  return (["allow", "ask", "deny"] as const).flatMap((list) =>
    permissions[list].flatMap((rule, index) => {
      const agent = agentOfRule(rule);
      if (agent === undefined || /[*?[]/u.test(agent) || names.includes(agent)) return [];
      const hint = didYouMean(agent, names);
      if (hint === "" && AGENT_NAME.test(agent)) return [];
      const path = ["permissions", list, index] as const;
      return [{
        path,
        text: `"${formatPath(path as KeyPath)}" is about the agent "${agent}", which is not in ` +
          `mmConfigs${hint}`,
      }];
    })
  );
}
