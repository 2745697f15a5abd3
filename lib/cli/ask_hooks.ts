/**
 * The hooks of a configuration, for the sessions of this process.
 *
 * @module
 */
import { redactor } from "../base/secrets.ts";
import type { AgentConfig } from "../config/types.ts";
import { AskHooks } from "../hooks/ask_hooks.ts";
import { createRunFilter } from "../platform/filter.ts";
import type { Reaper } from "../platform/reaper.ts";
import { secretsOf } from "./agent_pool.ts";

/** Options of {@linkcode hooksMaker}. */
export interface HooksMakerOptions {
  readonly config: AgentConfig;
  /** How deep this process is in a chain of asks. */
  readonly depth: number;
  readonly reaper: Reaper;
}

/** Returns a function that creates the hooks of one session; `undefined` where there are none. */
export function hooksMaker(
  { config, depth, reaper }: HooksMakerOptions,
): ((env: () => Promise<Readonly<Record<string, string>>>) => AskHooks) | undefined {
  const { preAsk, postAsk } = config.hooks;
  if (preAsk.length + postAsk.length === 0) return undefined;
  const run = createRunFilter({ reaper });
  const redact = redactor(secretsOf(config));
  return (env) => new AskHooks({ config: config.hooks, run, env, depth, redact });
}
