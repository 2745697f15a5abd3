/**
 * Why a tool that exists is not offered, for a model that calls it all the same.
 *
 * @module
 */
import { ASK_AGENT } from "../agents/ask_agent_tool.ts";
import type { AgentPool } from "../agents/pool.ts";
import { DELEGATION_TOOLS } from "../config/tool_names.ts";
import type { AgentConfig } from "../config/types.ts";
import { depthReason, mayDelegate } from "../delegation/delegation_limits.ts";

/** What the reason depends on. */
export interface WithheldOptions {
  readonly pool: Pick<AgentPool, "limit">;
  readonly config: Pick<AgentConfig, "delegation">;
  /** How deep this process is in a chain of asks. */
  readonly depth: number;
}

/** Returns the reason; `undefined` for a tool that nothing is known of. */
export function withheldReason(
  name: string,
  { pool, config, depth }: WithheldOptions,
): string | undefined {
  if (name === ASK_AGENT) return pool.limit;
  const { maxDepth } = config.delegation;
  return DELEGATION_TOOLS.includes(name) && !mayDelegate(depth, maxDepth)
    ? depthReason(maxDepth)
    : undefined;
}
