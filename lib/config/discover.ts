/**
 * Finding the configuration file.
 *
 * @module
 */
import { join, resolve } from "node:path";
import { UsageError } from "../base/errors.ts";
import { readTextFile } from "./text_file.ts";

/** The file of a configuration. */
export interface FoundFile {
  /** Absolute. */
  readonly file: string;
  readonly text: string;
}

/** Options of {@linkcode discover}. */
export interface DiscoverOptions {
  /** The file that was asked for, absolute or relative to `cwd`. */
  readonly file?: string;
  /** Absolute. */
  readonly cwd: string;
  /** The user's directory of configurations, absolute; the file is `mm/agent.yaml` in it. */
  readonly configDir: string;
}

/** Largest configuration in bytes. */
export const MAX_CONFIG_BYTES = 256 * 1024;

/**
 * Finds and reads the configuration: the one that was asked for, else `agent.yaml` and
 * `.mm/agent.yaml` in the working directory, else the user's. Returns `undefined` when none exists.
 *
 * @throws {UsageError} when the file that was asked for does not exist, or when one that exists
 * cannot be used: the next one is never taken instead.
 */
export async function discover(options: DiscoverOptions): Promise<FoundFile | undefined> {
  const { file, cwd, configDir } = options;
  const candidates = file === undefined
    ? [join(cwd, "agent.yaml"), join(cwd, ".mm", "agent.yaml"), join(configDir, "mm", "agent.yaml")]
    : [resolve(cwd, file)];
  for (const candidate of candidates) {
    const read = await readTextFile(candidate, { maxBytes: MAX_CONFIG_BYTES });
    switch (read.kind) {
      case "text":
        return { file: candidate, text: read.text };
      case "unusable": {
        const where = read.line === undefined ? "" : `${candidate}:${read.line}:1: `;
        throw new UsageError(`${where}The configuration file "${candidate}" ${read.reason}`);
      }
      case "absent":
        if (file !== undefined) {
          throw new UsageError(
            `The configuration file "${candidate}" does not exist; ` +
              `name an existing one, or write one with mm -init`,
          );
        }
    }
  }
  return undefined;
}
