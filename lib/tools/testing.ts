/**
 * What the tests of this folder share: a directory of their own and a session's context.
 *
 * @module
 */
import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import type { Commands } from "../platform/process.ts";
import { FileViews } from "./file_views.ts";
import type { Tool, ToolContext, ToolResult } from "./tool.ts";

/** A directory that is removed after the test, and calls in it. */
export interface TestProject {
  /** Absolute, symbolic links followed. */
  readonly directory: string;
  readonly context: ToolContext;
  /** What the call showed while it ran. */
  readonly shown: string[];
  /** How often the watchdog was stopped and started again. */
  readonly watchdog: string[];
  /** Writes a file, directories included, and returns its path. */
  file(name: string, content: string | Uint8Array): Promise<string>;
  path(name: string): string;
  /** Checks the arguments and runs the call. */
  call(tool: Tool, raw: unknown, context?: Partial<ToolContext>): Promise<ToolResult>;
  /** Names of all files in the project's directory itself. */
  names(): Promise<string[]>;
}

const NO_COMMANDS: Commands = {
  run: () => Promise.reject(new Error("This test runs no commands")),
  background: () => [],
  close: () => Promise.resolve(),
};

/** Makes a project. */
export async function testProject(
  t: TestContext,
  options: Partial<ToolContext> = {},
): Promise<TestProject> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "mm tools ")));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const shown: string[] = [];
  const watchdog: string[] = [];
  const context: ToolContext = {
    cwd: directory,
    signal: new AbortController().signal,
    callId: "1",
    requestId: "1",
    maxOutput: 20_000,
    bashTimeoutMs: 10_000,
    bashTimeoutMaxMs: 20_000,
    commandEnv: () => Promise.resolve({ PATH: "" }),
    files: new FileViews(),
    commands: NO_COMMANDS,
    output: (text) => void shown.push(text),
    alive: () => {},
    pauseWatchdog: () => {
      watchdog.push("stopped");
      return () => void watchdog.push("started");
    },
    ...options,
  };
  return {
    directory,
    context,
    shown,
    watchdog,
    path: (name) => join(directory, name),
    async file(name, content) {
      const path = join(directory, name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, content);
      return path;
    },
    async call(tool, raw, changed = {}) {
      const parsed = tool.parse(raw);
      if ("error" in parsed) return { ok: false, text: parsed.error };
      return await tool.run(parsed.input, { ...context, ...changed });
    },
    names: async () => (await readdir(directory)).sort(),
  };
}
