/**
 * The agents that a configuration may ask, as a pool of this process.
 *
 * @module
 */
import type { ConnectChild } from "../agents/child_connection.ts";
import { AgentPool } from "../agents/pool.ts";
import { redactor } from "../base/secrets.ts";
import type { AgentConfig } from "../config/types.ts";
import { createStartChild } from "../platform/child.ts";
import type { Reaper } from "../platform/reaper.ts";
import { selfCommand } from "../platform/runtime.ts";

/** Options of {@linkcode createPool}. */
export interface CreatePoolOptions {
  readonly config: AgentConfig;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How deep this process is in a chain of asks. */
  readonly depth: number;
  readonly reaper: Reaper;
}

/** Creates the pool of agents that a configuration may ask. */
export function createPool(options: CreatePoolOptions): AgentPool {
  const { config, env, depth, reaper } = options;
  return new AgentPool({
    entries: config.agents,
    depth,
    env,
    self: selfCommand(),
    start: createStartChild({ reaper }),
    connect: connectLazily,
    redact: redactor(secretsOf(config)),
    silenceMs: config.watchdogTimeoutMs,
    callBudgetMs: config.bashTimeoutMaxMs,
  });
}

/**
 * Returns the configuration as it counts at a depth: an agent that was itself asked has no yolo of
 * its own, for whoever asked it decides about its calls.
 */
export function asAsked(config: AgentConfig, depth: number): AgentConfig {
  return depth === 0 ? config : { ...config, yolo: false };
}

/** The protocol is loaded when the first child is started; it takes longer than the rest of mm. */
export const connectLazily: ConnectChild = async (streams, options) => {
  const { connectChild } = await import("../acp/client.ts");
  return await connectChild(streams, options);
};

/** Returns the secrets that a configuration holds. */
export function secretsOf(config: AgentConfig): string[] {
  return [
    ...modelSecrets(config),
    ...config.agents.flatMap((entry) => Object.values(entry.env ?? {})),
    ...config.mcpServers.flatMap((server) =>
      Object.values(("url" in server ? server.headers : server.env) ?? {})
    ),
  ];
}

/** Returns what only the model's server may see. */
export function modelSecrets({ model }: AgentConfig): string[] {
  return [model.apiKey, ...Object.values(model.headers ?? {})].filter((secret) =>
    secret !== undefined
  );
}
