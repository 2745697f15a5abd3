/**
 * Why a tool that exists is not offered, for a model that calls it all the same.
 *
 * @module
 */
import { ASK_AGENT } from "../agents/ask_agent_tool.ts";
import type { AgentPool } from "../agents/pool.ts";
import type { AgentConfig } from "../config/types.ts";
import { Delegation } from "../delegation/delegation.ts";
import { depthReason } from "../delegation/delegation_limits.ts";

/** What the reason depends on. */
export interface WithheldOptions {
  readonly pool: AgentPool;
  readonly config: AgentConfig;
  readonly delegation: Delegation | undefined;
}

/** Returns the reason; `undefined` for a tool that nothing is known of. */
export function withheldReason(
  name: string,
  { pool, config, delegation }: WithheldOptions,
): string | undefined {
  if (name === ASK_AGENT) return pool.limit;
  if (!Delegation.owns(name) || delegation?.offered === true) return undefined;
  return depthReason(config.delegation.maxDepth);
}
