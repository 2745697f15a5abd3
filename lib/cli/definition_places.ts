/**
 * Where the definitions of subagents lie, for a configuration and a directory.
 *
 * @module
 */
import { homedir } from "node:os";
import process from "node:process";
import type { AgentConfig } from "../config/types.ts";
import type { DefinitionPlaces } from "../delegation/definition_folders.ts";
import { configDir } from "../platform/directories.ts";

/** Options of {@linkcode definitionPlaces}. */
export interface DefinitionPlacesOptions {
  readonly config: AgentConfig;
  /** The directory of the session, absolute. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Returns the places in which a session looks for definitions. */
export function definitionPlaces({ config, cwd, env }: DefinitionPlacesOptions): DefinitionPlaces {
  const home = env["HOME"] || env["USERPROFILE"] || homedir();
  return {
    cwd,
    home,
    configDir: configDir(env, home, process.platform),
    paths: config.delegation.paths,
    agents: config.agents.map(({ name }) => name),
  };
}
