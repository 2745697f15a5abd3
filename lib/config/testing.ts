/**
 * For the tests of this folder: a directory with a configuration file in it.
 *
 * @module
 */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { UsageError } from "../base/errors.ts";
import { loadConfig, type LoadConfigOptions } from "./load.ts";
import type { AgentConfig, DelegationConfig, HooksConfig } from "./types.ts";

/** How a configuration delegates that does not say. */
export const DELEGATION: DelegationConfig = {
  paths: [],
  maxParallel: "auto",
  background: true,
  maxDepth: 2,
  forks: true,
  worktree: { enabled: true },
};

/** The hooks of a configuration without any. */
export const NO_HOOKS: HooksConfig = {
  preAsk: [],
  postAsk: [],
  subagentStart: [],
  subagentStop: [],
};

/** A directory that is removed after the test. */
export interface TestDir {
  /** Absolute, without links. */
  readonly path: string;
  /** Writes a file in it, with the directories it needs, and returns its path. */
  write(name: string, content: string | Uint8Array): Promise<string>;
  /** Loads what this directory holds, with an empty environment where none is given. */
  load(options?: Partial<LoadConfigOptions>): Promise<AgentConfig>;
  /** Writes `agent.yaml`, loads it and returns the message of the error it must lead to. */
  messageFor(yaml: string | Uint8Array, options?: Partial<LoadConfigOptions>): Promise<string>;
}

/** Runs a test in a fresh directory. */
export async function inTestDir(run: (dir: TestDir) => Promise<void>): Promise<void> {
  const path = await realpath(await mkdtemp(join(tmpdir(), "mm-config-")));
  const write = async (name: string, content: string | Uint8Array) => {
    const file = join(path, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
    return file;
  };
  const load = (options: Partial<LoadConfigOptions> = {}) =>
    loadConfig({ cwd: path, env: {}, configDir: join(path, "user"), ...options });
  try {
    await run({
      path,
      write,
      load,
      messageFor: async (yaml, options) => {
        await write("agent.yaml", yaml);
        return await usageMessage(() => load(options));
      },
    });
  } finally {
    await rm(path, { recursive: true, force: true });
  }
}

/** Returns the message of the usage error that `run` must throw, and checks its exit status. */
export async function usageMessage(run: () => Promise<unknown>): Promise<string> {
  let thrown: unknown;
  try {
    await run();
  } catch (error) {
    thrown = error;
  }
  assert.ok(thrown instanceof UsageError, `expected a UsageError, got ${String(thrown)}`);
  assert.equal(thrown.exit, 2);
  return thrown.message;
}
