/**
 * From checked values to the configuration that the rest of mm is given: paths absolute, the system
 * prompt read.
 *
 * @module
 */
import { resolve, sep } from "node:path";
import { agentTitle } from "./agent_title.ts";
import type { AgentFile, AgentFileKey } from "./schema.ts";
import { readTextFile } from "./text_file.ts";
import type { AgentConfig, AgentEntry, ModelConfig } from "./types.ts";

/** Options of {@linkcode buildConfig}. */
export interface BuildConfigOptions {
  /** The configuration file, absolute; absent for the defaults. */
  readonly file?: string;
  /** Where relative paths begin, absolute. */
  readonly baseDir: string;
  /** What `~` stands for. */
  readonly home: string | undefined;
  /** Told about a value that cannot be used; the key and what is below it, and a whole sentence. */
  readonly problem: (
    path: readonly [AgentFileKey, ...(string | number)[]],
    text: string,
  ) => void;
}

/** Largest system prompt in a file of its own, in bytes. */
const MAX_SYSTEM_BYTES = 1024 * 1024;

/** Builds the configuration. What it returns counts only if no problem was reported. */
export async function buildConfig(
  values: AgentFile,
  options: BuildConfigOptions,
): Promise<AgentConfig> {
  const { permissions, tools } = values;
  return withoutUndefined({
    file: options.file,
    model: modelOf(values),
    system: await systemOf(values.system, options),
    tools: tools === undefined ? undefined : [...new Set(tools)],
    yolo: values.yolo,
    permissions,
    maxOutput: values.maxOutput,
    bashTimeoutMs: values.bashTimeout,
    bashTimeoutMaxMs: values.bashTimeoutMax,
    watchdogTimeoutMs: values.watchdogTimeout,
    maxTurns: values.maxTurns,
    agents: await Promise.all(
      Object.entries(values.mmConfigs ?? {}).map(([name, entry]) => entryOf(name, entry, options)),
    ),
    title: values.acp?.title,
  });
}

function modelOf(values: AgentFile): ModelConfig {
  return withoutUndefined({
    provider: values.provider,
    baseUrl: values.baseUrl,
    apiKey: values.apiKey,
    model: values.model,
    contextWindow: values.contextWindow,
    maxTokens: values.maxTokens,
    temperature: values.temperature,
    topP: values.topP,
    headers: values.headers,
    reasoning: values.reasoning,
  });
}

async function systemOf(
  system: AgentFile["system"],
  options: BuildConfigOptions,
): Promise<string | undefined> {
  if (system === undefined || typeof system === "string") return system;
  const path = ["system", "file"] as const;
  const file = absolute(system.file, path, options);
  if (file === undefined) return undefined;
  const read = await readTextFile(file, { maxBytes: MAX_SYSTEM_BYTES });
  const where = `"system.file": the file "${file}"`;
  switch (read.kind) {
    case "absent":
      options.problem(path, `${where} does not exist`);
      return undefined;
    case "unusable":
      options.problem(
        path,
        `${where} ${read.reason}${read.line === undefined ? "" : ` (line ${read.line})`}`,
      );
      return undefined;
    case "text":
      if (read.text.trim() === "") options.problem(path, `${where} is empty`);
      return read.text;
  }
}

type Entry = NonNullable<AgentFile["mmConfigs"]>[string];

async function entryOf(
  name: string,
  entry: Entry,
  options: BuildConfigOptions,
): Promise<AgentEntry> {
  const path = (key: string, ...rest: number[]) => ["mmConfigs", name, key, ...rest] as const;
  const whole = (value: string | undefined, key: string) =>
    value === undefined ? undefined : absolute(value, path(key), options);
  const [program, ...args] = entry.command ?? [];
  // A bare name is looked for in PATH; with a slash it is a path.
  const isPath = program !== undefined && (program.includes("/") || program.includes(sep));
  const resolved = isPath ? absolute(program, path("command", 0), options) : program;
  const file = whole(entry.path, "path");
  return withoutUndefined({
    name,
    path: file,
    command: resolved === undefined ? undefined : [resolved, ...args] as const,
    // Without a description the agent's own title has to say what it is for.
    description: entry.description ?? (file === undefined ? undefined : await agentTitle(file)),
    yolo: entry.yolo,
    timeoutMs: entry.timeout,
    env: entry.env,
    cwd: whole(entry.cwd, "cwd"),
  });
}

function absolute(
  value: string,
  path: readonly [AgentFileKey, ...(string | number)[]],
  options: BuildConfigOptions,
): string | undefined {
  const inHome = /^~(?:[/\\](.*))?$/su.exec(value);
  if (inHome === null) return resolve(options.baseDir, value);
  if (options.home !== undefined && options.home !== "") {
    return resolve(options.home, inHome[1] ?? "");
  }
  options.problem(path, `the path begins with "~", but the environment variable HOME is not set`);
  return undefined;
}

/** An object whose optional properties are absent instead of `undefined`. */
type WithoutUndefined<T> =
  & { readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K] }
  & { readonly [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined> };

function withoutUndefined<T extends object>(value: T): WithoutUndefined<T> {
  return Object.fromEntries(
    Object.entries(value).filter(([, v]) => v !== undefined),
  ) as WithoutUndefined<T>;
}
