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
import type {
  AgentConfig,
  AgentEntry,
  AgentsMdConfig,
  DelegationConfig,
  HookConfig,
  McpServerConfig,
  ModelConfig,
  StructuredOutputConfig,
} from "./types.ts";

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
    agentsMd: agentsMdOf(values.agentsMd, options),
    sessions: values.sessions,
    compaction: values.compaction,
    structuredOutput: await structuredOutputOf(values.structuredOutput, options),
    agents: await Promise.all(
      Object.entries(values.mmConfigs ?? {}).map(([name, entry]) => entryOf(name, entry, options)),
    ),
    delegation: delegationOf(values.agents, options),
    hooks: {
      preAsk: values.hooks.preAsk.map(hookOf),
      postAsk: values.hooks.postAsk.map(hookOf),
      subagentStart: values.hooks.subagentStart.map(hookOf),
      subagentStop: values.hooks.subagentStop.map(hookOf),
    },
    mcpServers: Object.entries(values.mcpServers ?? {}).map(([name, entry]) =>
      mcpServerOf(name, entry, options)
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
    textCalls: values.textCalls,
    sendReasoning: values.sendReasoning,
    images: values.images,
  });
}

/** The path stays relative: where it begins is known when a conversation does. */
function agentsMdOf(values: AgentFile["agentsMd"], options: BuildConfigOptions): AgentsMdConfig {
  if (!/^~(?:[/\\]|$)/u.test(values.path)) return values;
  return { ...values, path: absolute(values.path, ["agentsMd", "path"], options) ?? values.path };
}

async function structuredOutputOf(
  value: AgentFile["structuredOutput"],
  options: BuildConfigOptions,
): Promise<StructuredOutputConfig | undefined> {
  if (value === undefined) return undefined;
  // Only an agent that answers with JSON loads what checks it.
  const { readOutputSchema } = await import("./read_output_schema.ts");
  const file = value.file === undefined
    ? undefined
    : absolute(value.file, ["structuredOutput", "file"], options);
  if (value.file !== undefined && file === undefined) return undefined;
  return await readOutputSchema({
    ...(value.schema === undefined ? {} : { schema: value.schema }),
    ...(file === undefined ? {} : { file }),
    problem: (key, text) => options.problem(["structuredOutput", key], text),
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

function delegationOf(
  { worktree, ...values }: AgentFile["agents"],
  options: BuildConfigOptions,
): DelegationConfig {
  const paths = values.paths.map((path, index) =>
    absolute(path, ["agents", "paths", index], options)
  ).filter((path) => path !== undefined);
  const path = worktree.path === undefined
    ? undefined
    : absolute(worktree.path, ["agents", "worktree", "path"], options);
  return {
    ...values,
    paths: [...new Set(paths)],
    worktree: withoutUndefined({ enabled: worktree.enabled, path }),
  };
}

function hookOf(hook: AgentFile["hooks"]["preAsk"][number]): HookConfig {
  return withoutUndefined({ match: hook.match, run: hook.run, timeoutMs: hook.timeout });
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
  const resolved = program === undefined
    ? undefined
    : programOf(program, path("command", 0), options);
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

function mcpServerOf(
  name: string,
  entry: NonNullable<AgentFile["mcpServers"]>[string],
  options: BuildConfigOptions,
): McpServerConfig {
  // The schema lets exactly one of the two through.
  if (entry.url !== undefined) {
    return withoutUndefined({ name, url: entry.url, headers: entry.headers });
  }
  const command = entry.command ?? "";
  const program = programOf(command, ["mcpServers", name, "command"], options) ?? command;
  return withoutUndefined({
    name,
    command: [program, ...entry.args ?? []] as const,
    env: entry.env,
  });
}

/** A bare name is looked for on the PATH; with a slash it is a path. */
function programOf(
  program: string,
  path: readonly [AgentFileKey, ...(string | number)[]],
  options: BuildConfigOptions,
): string | undefined {
  const isPath = program.includes("/") || program.includes(sep);
  return isPath ? absolute(program, path, options) : program;
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
