/**
 * Puts the parts together: the host of a front end.
 *
 * @module
 */
import type { AgentConfig } from "../config/types.ts";
import { McpHost } from "../mcp/host.ts";
import { createLazyModelClient } from "../model/discovering_client.ts";
import { effectiveAskDepth } from "../platform/ask_depth.ts";
import { createStartChild } from "../platform/child.ts";
import { createCommands } from "../platform/commands.ts";
import { createReaper } from "../platform/reaper.ts";
import { selfCommand } from "../platform/runtime.ts";
import { createScratch } from "../platform/scratch.ts";
import { Host } from "../session/host.ts";
import type { SessionHost } from "../session/types.ts";
import { builtinTools } from "../tools/builtin_tools.ts";
import { selectTools } from "../tools/tool_names.ts";
import { asAsked, createPool, modelSecrets } from "./agent_pool.ts";
import { openStore } from "./session_store.ts";
import { hooksMaker } from "./ask_hooks.ts";

/** Options of {@linkcode composeHost}. */
export interface ComposeHostOptions {
  /** The agent's configuration. */
  readonly config: AgentConfig;
  /** This process's environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The subagent that this process serves; absent for an agent of its own. */
  readonly subagent?: string;
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
  const store = await openStore({ config, env, subagent: options.subagent !== undefined });
  const reaper = createReaper();
  const pool = createPool({ config, env, depth, reaper });
  const scratch = createScratch({ self: selfCommand(), depth, reaper });
  const { has: hasTool } = selectTools(config.tools);
  return new Host({
    config,
    env,
    model,
    pool,
    tools: builtinTools(),
    hasTool,
    createCommands: () => createCommands({ reaper }),
    createHooks: hooksMaker({ config, depth, reaper }),
    createDelegation: async () => {
      const { composeDelegation } = await import("./delegation.ts");
      const saved = store !== undefined;
      return composeDelegation({
        config,
        env,
        model,
        pool,
        scratch,
        depth,
        reaper,
        hasTool,
        saved,
      });
    },
    depth,
    store,
    subagent: options.subagent !== undefined,
    mcp: new McpHost({
      servers: config.mcpServers,
      env,
      secrets: modelSecrets(config),
      start: createStartChild({ reaper }),
      hasTool,
    }),
    scratch,
    onClose: () => {
      reaper.close();
      return Promise.resolve();
    },
  });
}
