/**
 * The environment of a subagent. It is the same agent at another piece of work, so the overrides of
 * the configuration hold for it too; what decides about calls, sessions and depth is set here.
 *
 * @module
 */

import {
  CONFIG_DIGEST_VARIABLE,
  DEFINITION_VARIABLE,
  OWN_VARIABLES,
  SUBAGENT_STATE_VARIABLE,
} from "../base/fenced_variables.ts";
import { VERSION } from "../base/version.ts";

/** Options of {@linkcode subagentEnvironment}. */
export interface SubagentEnvironmentOptions {
  /** This process's environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How deep this process is in a chain of asks. */
  readonly depth: number;
  /** Where subagents save their conversations, absolute; absent where they save none. */
  readonly stateDir: string | undefined;
  /** What the configuration file held when this process read it; absent where there is none. */
  readonly configDigest?: string | undefined;
  /** The version of the definition that is to be served; empty for a fork. @default {""} */
  readonly version?: string;
}

/** Returns the whole environment a subagent starts with. */
export function subagentEnvironment(options: SubagentEnvironmentOptions): Record<string, string> {
  const { env, depth, stateDir, configDigest, version = "" } = options;
  const child: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !OWN_VARIABLES.has(name)) child[name] = value;
  }
  return {
    ...child,
    AGENT_YOLO: "false",
    AGENT_SESSIONS: "off",
    MM_ASK_DEPTH: String(depth + 1),
    ...(stateDir === undefined ? {} : { [SUBAGENT_STATE_VARIABLE]: stateDir }),
    ...(configDigest === undefined ? {} : { [CONFIG_DIGEST_VARIABLE]: configDigest }),
    ...(version === "" ? {} : { [DEFINITION_VARIABLE]: `${VERSION} ${version}` }),
  };
}
