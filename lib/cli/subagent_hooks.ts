/**
 * The hooks around subagents, for the sessions of this process.
 *
 * @module
 */
import { redactor } from "../base/secrets.ts";
import { createSubagentHooks } from "../hooks/run_subagent_hooks.ts";
import type { SubagentHooks } from "../hooks/subagent_hooks.ts";
import { createRunFilter } from "../platform/filter.ts";
import { secretsOf } from "./agent_pool.ts";
import type { HooksMakerOptions } from "./ask_hooks.ts";

/** Returns a function that creates the hooks of one session; `undefined` where there are none. */
export function subagentHooksMaker(
  { config, depth, reaper }: HooksMakerOptions,
): ((env: () => Promise<Readonly<Record<string, string>>>) => SubagentHooks) | undefined {
  const { subagentStart, subagentStop } = config.hooks;
  if (subagentStart.length + subagentStop.length === 0) return undefined;
  const run = createRunFilter({ reaper });
  const redact = redactor(secretsOf(config));
  return (env) => createSubagentHooks({ config: config.hooks, run, env, depth, redact });
}
