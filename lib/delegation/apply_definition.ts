/**
 * The configuration of a subagent: that of the agent that starts it, narrowed by a definition.
 *
 * @module
 */
import type { AgentConfig, ModelConfig } from "../config/types.ts";
import type { AgentDefinition } from "./definition.ts";
import { FORK } from "./definition_name.ts";
import { subagentTools } from "./subagent_tools.ts";

/** Options of {@linkcode applyDefinition}. */
export interface ApplyDefinitionOptions {
  /** How deep the subagent is in a chain: 1 for one that the person's own agent starts. */
  readonly depth: number;
}

/** What every subagent is told below the prompt of its definition. */
export const SUBAGENT_RULES =
  `You are a subagent: another agent gave you one task, and you do it alone.

- You cannot ask anybody. Where the task is unclear, take the likeliest meaning and say so.
- Relative paths begin in your working directory; your commands run there.
- End with one report, without a tool call. It is all that the other agent sees of your work: what you did, what you found and where, what is left open.`;

/**
 * Returns the configuration with which a subagent runs. Nothing in it allows more than the given one.
 *
 * @param config of the agent that starts it.
 */
export function applyDefinition(
  config: AgentConfig,
  definition: AgentDefinition,
  { depth }: ApplyDefinitionOptions,
): AgentConfig {
  const { model, maxTurns } = definition;
  const turns = [config.maxTurns, maxTurns].filter((limit) => limit !== undefined);
  return {
    ...withoutOutputFormat(config),
    system: `${definition.prompt}\n\n${SUBAGENT_RULES}`,
    tools: subagentTools({
      configured: config.tools,
      wanted: definition.tools,
      without: definition.withoutTools,
      depth,
      maxDepth: config.delegation.maxDepth,
    }),
    ...(model === undefined ? {} : { model: withModel(config.model, model) }),
    ...(turns.length === 0 ? {} : { maxTurns: Math.min(...turns) }),
    permissions: { ...config.permissions, subagent: definition.name },
    title: definition.name,
  };
}

/**
 * Returns the configuration with which a fork runs: that of the conversation it continues. What it
 * says at its end is a report, whatever form the answers of that agent have.
 */
export function forkConfig(config: AgentConfig): AgentConfig {
  return {
    ...withoutOutputFormat(config),
    permissions: { ...config.permissions, subagent: FORK },
  };
}

/** What the file says about its model's window and images is not said of another model. */
function withModel(config: ModelConfig, model: string): ModelConfig {
  if (model === config.model) return config;
  const { contextWindow: _, images: __, ...rest } = config;
  return { ...rest, model };
}

function withoutOutputFormat(config: AgentConfig): AgentConfig {
  const { structuredOutput: _, ...rest } = config;
  return rest;
}
