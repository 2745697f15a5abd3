/**
 * The configuration and the working directory that a command line asks for.
 *
 * @module
 */
import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { resolve } from "node:path";
import process from "node:process";
import { UsageError } from "../base/errors.ts";
import { CONFIG_DIGEST_VARIABLE, DEFINITION_VARIABLE } from "../base/fenced_variables.ts";
import { VERSION } from "../base/version.ts";
import { loadConfig } from "../config/load.ts";
import type { AgentConfig } from "../config/types.ts";
import { effectiveAskDepth } from "../platform/ask_depth.ts";
import { configDir } from "../platform/directories.ts";
import type { ModeOptions } from "./command_line.ts";
import type { DefinitionPlacesOptions } from "./definition_places.ts";
import type { Io } from "./mode.ts";
import { strayRules } from "./stray_rules.ts";

/** What {@linkcode loadAgentConfig} found. */
export interface LoadedConfig {
  readonly config: AgentConfig;
  /** The working directory of sessions, absolute. */
  readonly cwd: string;
}

/**
 * Loads the configuration for a command line; with `-agent`, as the subagent has it. Warnings go to
 * stderr.
 *
 * @throws {UsageError} when the directory or the file is not usable, or there is no such subagent.
 */
export async function loadAgentConfig(
  options: { readonly options: ModeOptions; readonly io: Io },
): Promise<LoadedConfig> {
  const { io, options: flags } = options;
  const cwd = await workingDirectory(flags.cwd, io.cwd);
  const config = await loadConfig({
    cwd,
    env: io.env,
    configDir: configDir(io.env, homedir(), process.platform),
    // Both flags are relative to where mm was started, in whatever order they stand.
    ...(flags.config === undefined ? {} : { file: resolve(io.cwd, flags.config) }),
    ...(flags.defaults ? { defaults: true } : {}),
    overrides: {
      ...(flags.model === undefined ? {} : { model: flags.model }),
      ...(flags.yolo ? { yolo: true } : {}),
    },
    onWarning: (text) => io.err(`mm: ${text}\n`),
  });
  if (flags.agent !== undefined) {
    checkUnchanged(config, io.env[CONFIG_DIGEST_VARIABLE]);
    return { config: await asSubagent(flags.agent, { config, cwd, env: io.env }), cwd };
  }
  for (const text of await strayRules({ config, cwd, env: io.env })) io.err(`mm: ${text}\n`);
  return { config, cwd };
}

/**
 * A configuration starts programs and holds the rules of the gate. The model can have written another
 * one since the agent that starts this subagent read it.
 */
function checkUnchanged({ file, fileDigest }: AgentConfig, expected: string | undefined): void {
  if (expected === undefined || fileDigest === expected) return;
  throw new UsageError(
    `The configuration "${file}" was changed since mm was started; start mm again to use it`,
  );
}

/** Returns the configuration of a subagent, by the name of its definition. */
async function asSubagent(name: string, options: DefinitionPlacesOptions): Promise<AgentConfig> {
  const [{ FORK, nameKey }, { applyDefinition, forkConfig }, { openDefinitionBook }, places] =
    await Promise.all([
      import("../delegation/definition_name.ts"),
      import("../delegation/apply_definition.ts"),
      import("../delegation/definition_book.ts"),
      import("./definition_places.ts"),
    ]);
  if (nameKey(name) === FORK) return forkConfig(options.config);
  const book = await openDefinitionBook(places.definitionPlaces(options));
  const found = await book.find(name);
  if ("error" in found) throw new UsageError(found.error);
  // Another version of mm, which took the place of the one that runs, may read it in another way.
  const [reader, version] = options.env[DEFINITION_VARIABLE]?.split(" ") ?? [];
  if (reader === VERSION && found.definition.version !== version) {
    throw new UsageError(
      `The definition of "${found.definition.name}" was just changed; start it again`,
    );
  }
  return applyDefinition(options.config, found.definition, {
    depth: await effectiveAskDepth(options.env),
  });
}

/**
 * Returns the working directory that `-cwd` names, absolute.
 *
 * @throws {UsageError} when it is no directory.
 */
export async function workingDirectory(flag: string | undefined, start: string): Promise<string> {
  if (flag === undefined) return start;
  const path = resolve(start, flag);
  const found = await stat(path).catch((error: { readonly code?: string }) => {
    const why = error.code === "ENOENT" ? "it does not exist" : `${error.code ?? error}`;
    throw new UsageError(`Cannot use the directory "${path}" of -cwd: ${why}`, { cause: error });
  });
  if (!found.isDirectory()) {
    throw new UsageError(`Cannot use the directory "${path}" of -cwd: it is not a directory`);
  }
  return path;
}
