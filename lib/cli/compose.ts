/**
 * Puts the parts together: the host of a front end, and the asker of `mm --ask`.
 *
 * @module
 */
import { AgentPool } from "../agents/pool.ts";
import type { ConnectChild } from "../agents/child_connection.ts";
import { UsageError } from "../base/errors.ts";
import { redactor } from "../base/secrets.ts";
import type { AgentConfig } from "../config/types.ts";
import { createLazyModelClient } from "../model/discovering_client.ts";
import { effectiveAskDepth } from "../platform/ask_depth.ts";
import { createStartChild } from "../platform/child.ts";
import { createCommands } from "../platform/commands.ts";
import { createReaper, type Reaper } from "../platform/reaper.ts";
import { selfCommand } from "../platform/runtime.ts";
import { createScratch } from "../platform/scratch.ts";
import { Host } from "../session/host.ts";
import type { SessionHost } from "../session/types.ts";
import { builtinTools } from "../tools/builtin_tools.ts";

/** Options of {@linkcode composeHost}. */
export interface ComposeHostOptions {
  readonly config: AgentConfig;
  /** This process's environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Takes a sentence that the user should see before or between prompts. */
  readonly onNotice: (text: string) => void;
}

/**
 * Puts the host of one process together. Nothing is started and nobody is waited for.
 *
 * @throws {UsageError} when the configuration names a model or a tool that cannot be used.
 */
export async function composeHost(options: ComposeHostOptions): Promise<SessionHost> {
  const { env, onNotice } = options;
  const depth = await effectiveAskDepth(env);
  const config = asAsked(options.config, depth);
  const model = createLazyModelClient({ config: config.model, env, onNotice });
  const reaper = createReaper();
  return new Host({
    config,
    env,
    model,
    pool: createPool({ config, env, depth, reaper }),
    tools: builtinTools(),
    hasTool: (name) => config.tools?.includes(name) ?? true,
    createCommands: () => createCommands({ reaper }),
    depth,
    scratch: createScratch({ self: selfCommand() }),
    onClose: () => {
      reaper.close();
      return Promise.resolve();
    },
  });
}

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
const connectLazily: ConnectChild = async (streams, options) => {
  const { connectChild } = await import("../acp/client.ts");
  return await connectChild(streams, options);
};

function secretsOf(config: AgentConfig): string[] {
  return [
    config.model.apiKey,
    ...Object.values(config.model.headers ?? {}),
    ...config.agents.flatMap((entry) => Object.values(entry.env ?? {})),
  ].filter((secret): secret is string => secret !== undefined);
}

/** Throws for an agent that the configuration does not have. */
export function requireAgent(pool: AgentPool, name: string): void {
  if (pool.entry(name) !== undefined) return;
  throw new UsageError(`Cannot ask "${name}": ${pool.unknownAgent(name)}`);
}
