/**
 * The environment of a subagent. It is the same agent at another piece of work, so the overrides of
 * the configuration hold for it too; what decides about calls, sessions and depth is set here.
 *
 * @module
 */

/** What mm tells its own commands, and what another mm told this one. */
const NOT_PASSED = new Set([
  "MM_BIN",
  "MM_CONFIG",
  "MM_TRANSCRIPT",
  "MM_ASK_DEPTH",
  "MM_SUBAGENT_STATE",
]);

/** Options of {@linkcode subagentEnvironment}. */
export interface SubagentEnvironmentOptions {
  /** This process's environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How deep this process is in a chain of asks. */
  readonly depth: number;
  /** Where subagents save their conversations, absolute; absent where they save none. */
  readonly stateDir: string | undefined;
}

/** Returns the whole environment a subagent starts with. */
export function subagentEnvironment(options: SubagentEnvironmentOptions): Record<string, string> {
  const { env, depth, stateDir } = options;
  const child: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !NOT_PASSED.has(name)) child[name] = value;
  }
  return {
    ...child,
    AGENT_YOLO: "false",
    AGENT_SESSIONS: "off",
    MM_ASK_DEPTH: String(depth + 1),
    ...(stateDir === undefined ? {} : { MM_SUBAGENT_STATE: stateDir }),
  };
}
