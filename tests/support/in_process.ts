/**
 * mm's sessions in the process of the test: the real host, engine, store and model client on a real
 * model server. Only asked agents and hooks are played, for a process each would take a hundred times
 * as long.
 *
 * @module
 */
import { join } from "node:path";
import { createPoolOptions } from "./played_agents.ts";
import { AgentPool } from "../../lib/agents/pool.ts";
import { buildConfig } from "../../lib/config/build.ts";
import { agentFileSchema } from "../../lib/config/schema.ts";
import type { AgentConfig } from "../../lib/config/types.ts";
import { DelegationHost } from "../../lib/delegation/delegation_host.ts";
import { AskHooks } from "../../lib/hooks/ask_hooks.ts";
import { McpHost } from "../../lib/mcp/host.ts";
import { createModelClient } from "../../lib/model/client.ts";
import type { Commands } from "../../lib/platform/process.ts";
import type { RunFilter } from "../../lib/platform/filter.ts";
import { Host } from "../../lib/session/host.ts";
import type { SessionHost } from "../../lib/session/types.ts";
import { SessionStore } from "../../lib/store/session_store.ts";
import { builtinTools } from "../../lib/tools/builtin_tools.ts";
import { selectTools } from "../../lib/tools/tool_names.ts";
import type { Keys } from "./agents.ts";
import type { Random } from "./random.ts";

/** Options of {@linkcode inProcessHost}. */
export interface InProcessOptions {
  /** Keys of `agent.yaml`. */
  readonly keys: Keys;
  /** The address of the model server. */
  readonly url: string;
  /** A directory for the state, and one that takes transcripts; both absolute. */
  readonly stateDir: string;
  readonly scratchDir: string;
  /** Decides what asked agents and hooks do. */
  readonly random: Random;
}

/** Waits between attempts that a test does not have to wait for. */
const TIMING = { baseMs: 1, pollMs: 1, capMs: 1, slowMs: 1, few: 1 };

/** Returns a host like that of a process of mm. */
export async function inProcessHost(options: InProcessOptions): Promise<SessionHost> {
  const { url, stateDir, scratchDir, random } = options;
  const config = await configOf({ baseUrl: url, ...options.keys });
  const { has } = selectTools(config.tools);
  const model = createModelClient({ config: config.model, env: {}, timing: TIMING, graceMs: 5 });
  const played = createPoolOptions(config.agents, random);
  const pool = new AgentPool(played);
  return new Host({
    config,
    env: {},
    model,
    pool,
    createDelegation: () =>
      Promise.resolve(
        new DelegationHost({
          ...played,
          config,
          model,
          pool,
          hasTool: has,
          stateDir: join(stateDir, "subagents"),
          scratch: () => Promise.resolve(scratchDir),
          copy: ({ stateDir, cwd, messages }) => {
            const id = crypto.randomUUID();
            new SessionStore({ stateDir, keep: 0, secrets: [], version: "0" })
              .copy({ id, cwd, messages });
            return Promise.resolve(id);
          },
          places: (cwd) => ({ cwd, home: scratchDir, configDir: scratchDir, paths: [] }),
          worktrees: undefined,
        }),
      ),
    tools: builtinTools(),
    hasTool: has,
    createCommands: () => noCommands,
    createHooks: (env) =>
      new AskHooks({
        config: config.hooks,
        run: playedHook(random),
        env,
        depth: 0,
        redact: (text) => text,
      }),
    depth: 0,
    scratch: {
      contents: () => Promise.resolve({ directory: scratchDir, bin: "mm" }),
      close: () => Promise.resolve(),
    },
    store: new SessionStore({ stateDir, keep: 0, secrets: [], version: "0" }),
    mcp: new McpHost({
      servers: [],
      env: {},
      secrets: [],
      start: () => Promise.reject(new Error("No process in this test")),
      hasTool: has,
    }),
    onClose: () => Promise.resolve(),
  });
}

async function configOf(keys: Keys): Promise<AgentConfig> {
  return await buildConfig(agentFileSchema.parse(keys), {
    baseDir: "/",
    home: undefined,
    problem: (path, text) => {
      throw new Error(`${path.join(".")}: ${text}`);
    },
  });
}

const noCommands: Commands = {
  run: () => Promise.reject(new Error("No command in this test")),
  background: () => [],
  close: () => Promise.resolve(),
};

/** Hooks that let pass, add text, refuse, or break. */
function playedHook(random: Random): RunFilter {
  return (_command, { input }) => {
    const read = JSON.parse(input) as { readonly prompt: string; readonly answer?: string };
    const key = read.answer === undefined ? "prompt" : "answer";
    const ended = (code: number, stdout: string) => ({
      end: { code, signal: null },
      stdout,
      stderr: "",
    });
    return Promise.resolve(random.weighted([
      [6, ended(0, "")],
      [2, ended(0, JSON.stringify({ [key]: `${read[key]}\n[added by a hook]` }))],
      [1, ended(2, "")],
      [1, ended(0, "no JSON")],
    ]));
  };
}
