/**
 * `/agents`: who can be asked, and the definitions of subagents.
 *
 * @module
 */
import type { AgentPool } from "../agents/pool.ts";
import type { AgentConfig } from "../config/types.ts";
import type { Delegation } from "../delegation/delegation.ts";
import { agentsText } from "./info.ts";
import type { CommandAnswer } from "./task_commands.ts";

/** Options of {@linkcode agentsCommand}. */
export interface AgentsCommandOptions {
  /** What stands after `/agents`; empty for the list. */
  readonly rest: string;
  readonly pool: AgentPool;
  /** Absent where the session delegates to nobody. */
  readonly delegation: Pick<Delegation, "definitions"> | undefined;
  readonly config: Pick<AgentConfig, "permissions">;
  /** Whether gated calls run without a question. */
  readonly yolo: boolean;
  readonly signal: AbortSignal;
}

/**
 * Carries out `/agents [show | create | set …]`.
 *
 * @throws the signal's reason when it is aborted.
 */
export async function agentsCommand(options: AgentsCommandOptions): Promise<CommandAnswer> {
  const { rest, pool, delegation, config, yolo, signal } = options;
  if (rest !== "") {
    if (delegation !== undefined) return await delegation.definitions(rest, { signal });
    return { ok: false, text: "There are no subagents here, so /agents takes no more words" };
  }
  const asked = agentsText(pool, { yolo, rules: config.permissions });
  if (delegation === undefined) return { ok: true, text: asked };
  const { text } = await delegation.definitions("", { signal });
  return { ok: true, text: `${asked}\n\nSubagents:\n${text}` };
}
