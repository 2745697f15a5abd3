/**
 * The environment of an asked agent: the asking agent's, without what was meant for it alone.
 *
 * @module
 */
import { OVERRIDE_VARIABLE, OWN_VARIABLES, PROVIDER_VARIABLE } from "../base/fenced_variables.ts";
import type { AgentEntry } from "../config/types.ts";

/** Options of {@linkcode childEnvironment}. */
export interface ChildEnvironmentOptions {
  /** The asking process's environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly entry: AgentEntry;
  /** How deep the asking process is in a chain of asks. */
  readonly depth: number;
}

/** Returns the whole environment an asked agent starts with. */
export function childEnvironment(options: ChildEnvironmentOptions): Record<string, string> {
  const { env, entry, depth } = options;
  const foreign = entry.command !== undefined;
  const child: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || OVERRIDE_VARIABLE.test(name) || OWN_VARIABLES.has(name)) continue;
    if (foreign && PROVIDER_VARIABLE.test(name)) continue;
    child[name] = value;
  }
  return {
    ...child,
    ...entry.env,
    // Last, so that an entry cannot undo them: who asks decides about calls, sessions and depth.
    AGENT_YOLO: "false",
    AGENT_SESSIONS: "off",
    MM_ASK_DEPTH: String(depth + 1),
  };
}
