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
import { loadConfig } from "../config/load.ts";
import type { AgentConfig } from "../config/types.ts";
import { configDir } from "../platform/directories.ts";
import type { ModeOptions } from "./command_line.ts";
import type { Io } from "./mode.ts";

/** What {@linkcode loadAgentConfig} found. */
export interface LoadedConfig {
  readonly config: AgentConfig;
  /** The working directory of sessions, absolute. */
  readonly cwd: string;
}

/**
 * Loads the configuration for a command line. Warnings go to stderr.
 *
 * @throws {UsageError} when the directory or the file is not usable.
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
    overrides: {
      ...(flags.model === undefined ? {} : { model: flags.model }),
      ...(flags.yolo ? { yolo: true } : {}),
    },
    onWarning: (text) => io.err(`mm: ${text}\n`),
  });
  return { config, cwd };
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
