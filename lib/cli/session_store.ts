/**
 * Where the conversations of a configuration are saved.
 *
 * @module
 */
import { homedir } from "node:os";
import { isAbsolute } from "node:path";
import process from "node:process";
import { UsageError } from "../base/errors.ts";
import { SUBAGENT_STATE_VARIABLE } from "../base/fenced_variables.ts";
import { VERSION } from "../base/version.ts";
import type { AgentConfig } from "../config/types.ts";
import { stateDir } from "../platform/directories.ts";
import type { SessionStore } from "../store/session_store.ts";
import { secretsOf } from "./agent_pool.ts";

/** Variables whose values are secrets of the user's, whoever reads them. */
const SECRET_VARIABLE = /API_KEY$/u;

/** Options of {@linkcode openStore}. */
export interface OpenStoreOptions {
  readonly config: AgentConfig;
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * Whether another mm started this process for a subagent. Then that one says where it saves.
   * @default {false}
   */
  readonly subagent?: boolean;
}

/**
 * Returns the store, or `undefined` where nothing is saved. Nothing is read or written yet.
 *
 * @throws {UsageError} when the directory that the environment names is not absolute.
 */
export async function openStore(options: OpenStoreOptions): Promise<SessionStore | undefined> {
  const { config, env, subagent = false } = options;
  const dir = subagent ? subagentDir(env) : ownDir(config, env);
  return dir === undefined ? undefined : await createStore({ config, env, stateDir: dir });
}

function ownDir({ sessions }: AgentConfig, env: OpenStoreOptions["env"]): string | undefined {
  return sessions.enabled ? stateDir(env, homedir(), process.platform) : undefined;
}

/** Neither the configuration nor `AGENT_SESSIONS` counts here: who delegates decided by them. */
function subagentDir(env: OpenStoreOptions["env"]): string | undefined {
  const dir = env[SUBAGENT_STATE_VARIABLE];
  if (dir === undefined || dir === "") return undefined;
  if (isAbsolute(dir)) return dir;
  throw new UsageError(
    `Cannot save in "${dir}" of ${SUBAGENT_STATE_VARIABLE}: the path is not absolute`,
  );
}

/** Returns what is hidden in all that is saved: the secrets of a configuration and of an environment. */
export function savedSecrets(
  { config, env }: Pick<OpenStoreOptions, "config" | "env">,
): (string | undefined)[] {
  return [
    ...secretsOf(config),
    ...Object.entries(env).flatMap(([name, value]) => SECRET_VARIABLE.test(name) ? [value] : []),
  ];
}

/** Returns a store in a directory, absolute. Nothing is read or written yet. */
export async function createStore(
  { config, env, stateDir }: OpenStoreOptions & { readonly stateDir: string },
): Promise<SessionStore> {
  // An asked agent saves nothing and does not need the code for it.
  const { SessionStore } = await import("../store/session_store.ts");
  return new SessionStore({
    stateDir,
    keep: config.sessions.keep,
    secrets: savedSecrets({ config, env }),
    version: VERSION,
  });
}
