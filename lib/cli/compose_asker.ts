/**
 * Puts together what `mm --ask` needs: the agents, a gate without a person, and nothing else.
 *
 * @module
 */
import type { AskResult } from "../agents/ask.ts";
import { relayedAsk } from "../agents/relayed_ask.ts";
import type { AgentConfig } from "../config/types.ts";
import type { Emit } from "../engine/events.ts";
import { Gate } from "../gate/gate.ts";
import { neededRule } from "../gate/needed_rule.ts";
import type { AskPermission, PermissionQuestion } from "../gate/question.ts";
import { effectiveAskDepth } from "../platform/ask_depth.ts";
import { createReaper } from "../platform/reaper.ts";
import { selfCommand } from "../platform/runtime.ts";
import { createScratch } from "../platform/scratch.ts";
import { CommandExports } from "../session/command_exports.ts";
import { asAsked, createPool } from "./agent_pool.ts";
import { hooksMaker } from "./ask_hooks.ts";

/** One ask of a script. */
export interface ScriptAsk {
  /** Name of the asked agent, a key of `mmConfigs`. */
  readonly agent: string;
  /** The question. */
  readonly prompt: string;
  /** The calling conversation, sent before the question. */
  readonly transcript?: string;
  /** Absolute. */
  readonly cwd: string;
  /** Cancels the ask. */
  readonly signal: AbortSignal;
  /** Takes what the asked agent says and does while it works. */
  readonly emit: Emit;
}

/** Asks agents for a script. */
export interface Asker {
  /** Asks. Never rejects for how the ask ends. */
  ask(options: ScriptAsk): Promise<AskResult>;
  /** Ends every child. */
  close(): Promise<void>;
}

/** Options of {@linkcode composeAsker}. */
export interface ComposeAskerOptions {
  /** The configuration of the asking agent. */
  readonly config: AgentConfig;
  /** This process's environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Why a call that needs a person is refused in a script. */
const NOBODY = "nobody is there to answer a permission question";
const WAS_ASKED =
  `the agent that ran mm --ask was itself asked, so it permits nothing, and ${NOBODY} ` +
  "here; its tool ask_agent would put the question to whoever asked";

/** Puts the asker together; nothing is started. */
export async function composeAsker(options: ComposeAskerOptions): Promise<Asker> {
  const { env } = options;
  const depth = await effectiveAskDepth(env);
  const config = asAsked(options.config, depth);
  const reaper = createReaper();
  const pool = createPool({ config, env, depth, reaper });
  const scratch = createScratch({ self: selfCommand(), depth, reaper });
  const exports = new CommandExports({
    sessionId: crypto.randomUUID(),
    scratch,
    env,
    configFile: config.file,
    depth,
  });
  const hooks = hooksMaker({ config, depth, reaper })?.(() => exports.environment([]));
  const askPermission: AskPermission = async (question) => ({
    kind: "unavailable",
    reason: depth === 0 ? await whyRefused(question) : WAS_ASKED,
  });
  return {
    async ask(options) {
      const gate = new Gate({
        rules: config.permissions,
        honourAllowRules: depth === 0,
        askPermission,
      });
      return await relayedAsk({
        ...options,
        by: "script",
        hooks,
        pool,
        gate,
        yolo: () => config.yolo,
      });
    },
    async close() {
      await pool.close();
      await exports.close();
      await scratch.close();
      reaper.close();
    },
  };
}

/** Why a call is refused that a person would be asked about, and what would let it run. */
async function whyRefused(question: PermissionQuestion): Promise<string> {
  const { mustAsk } = question;
  if (mustAsk !== undefined) {
    return `${mustAsk} wants a person, and ${NOBODY}: ask at a terminal, or take the rule out; ` +
      "neither yolo nor permissions.allow changes it";
  }
  const allow = await neededRule(question);
  return `yolo is off for this agent and ${NOBODY}; allow it with the rule "${allow}" in ` +
    "permissions.allow, or set yolo in the configuration or in the agent's entry of mmConfigs";
}
