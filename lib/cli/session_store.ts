/**
 * Where the conversations of a configuration are saved.
 *
 * @module
 */
import { homedir } from "node:os";
import process from "node:process";
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
}

/**
 * Returns the store, or `undefined` where nothing is saved. Nothing is read or written yet.
 *
 * @throws {UsageError} when `MM_STATE_DIR` is not absolute.
 */
export async function openStore(options: OpenStoreOptions): Promise<SessionStore | undefined> {
  const { config, env } = options;
  if (!config.sessions.enabled) return undefined;
  // An asked agent saves nothing and does not need the code for it.
  const { SessionStore } = await import("../store/session_store.ts");
  return new SessionStore({
    stateDir: stateDir(env, homedir(), process.platform),
    keep: config.sessions.keep,
    secrets: [
      ...secretsOf(config),
      ...Object.entries(env).flatMap(([name, value]) => SECRET_VARIABLE.test(name) ? [value] : []),
    ],
    version: VERSION,
  });
}
