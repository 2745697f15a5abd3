/**
 * An agent's configuration after it was checked: durations in milliseconds, paths absolute, secrets
 * read from the environment. A value that is passed, never a global.
 *
 * @module
 */

/** Where models come from. */
export type ProviderName =
  | "llamacpp"
  | "ollama"
  | "lmstudio"
  | "vllm"
  | "openai"
  | "mistral"
  | "gemini"
  | "anthropic"
  | "openrouter"
  | "deepseek"
  | "groq"
  | "xai"
  | "custom"
  | "demo";

/** How much a reasoning model thinks. */
export type Effort = "none" | "minimal" | "low" | "medium" | "high";

/** The model and how it is asked. Everything absent is the provider's default or found by probing. */
export interface ModelConfig {
  /** Absent: the first model server found is taken. */
  readonly provider?: ProviderName;
  /** Address of the model server; absent for the provider's own. */
  readonly baseUrl?: string;
  /** Key of the model server; absent for the provider's variable. */
  readonly apiKey?: string;
  /** The model; absent for the server's first one. */
  readonly model?: string;
  /** Tokens of the window; absent where the server is asked. */
  readonly contextWindow?: number;
  /** Most tokens of one answer; absent for the server's own limit. */
  readonly maxTokens?: number;
  /** Sampling temperature; absent for the server's own. */
  readonly temperature?: number;
  /** Nucleus sampling; absent for the server's own. */
  readonly topP?: number;
  /** Headers of each model request besides mm's own. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Reasoning effort, where the model has one. */
  readonly reasoning?: Effort;
  /** Whether calls written as text count as calls. */
  readonly textCalls?: boolean;
  /** Whether earlier reasoning goes back to the server. */
  readonly sendReasoning?: boolean;
  /** Whether the model takes images. */
  readonly images?: boolean;
}

/** Rules of the gate: `tool`, `tool(pattern)`, `bob/tool(pattern)`. */
export interface PermissionRules {
  /** Calls that run without a question. */
  readonly allow: readonly string[];
  /** Calls that always ask, also under yolo. */
  readonly ask: readonly string[];
  /** Calls that are refused. */
  readonly deny: readonly string[];
  /**
   * The subagent whose calls are decided about: what `ask` and `deny` say of its name holds for its own
   * calls. Absent for any other agent; never in a file.
   */
  readonly subagent?: string;
}

/** An agent that may be asked: an entry of `mmConfigs`. */
export interface AgentEntry {
  /** Its name. */
  readonly name: string;
  /** Its configuration file, absolute. Exactly one of `path` and `command` is present. */
  readonly path?: string;
  /** A program that speaks ACP on stdio. */
  readonly command?: readonly [string, ...string[]];
  /** What it is for: says when to call it. Where the file has none, the agent's own `acp.title`. */
  readonly description?: string;
  /** Replaces the asking agent's `yolo` for the calls of this one. */
  readonly yolo?: boolean;
  /** Longest silence while it is asked, in milliseconds. */
  readonly timeoutMs?: number;
  /** Variables it gets besides the asking agent's. */
  readonly env?: Readonly<Record<string, string>>;
  /** Its working directory, absolute, instead of the asking session's. */
  readonly cwd?: string;
}

/** An MCP server: a program on stdin and stdout, or an address. From the configuration or an editor. */
export type McpServerConfig = McpProgramConfig | McpUrlConfig;

/** An MCP server that mm starts. */
export interface McpProgramConfig {
  /** Its name. */
  readonly name: string;
  /** A name is looked for on the PATH; a path is absolute. */
  readonly command: readonly [string, ...string[]];
  /** Variables it gets besides the asking agent's. */
  readonly env?: Readonly<Record<string, string>>;
}

/** An MCP server over streamable HTTP. */
export interface McpUrlConfig {
  /** Its name. */
  readonly name: string;
  /** Begins with `http://` or `https://`. */
  readonly url: string;
  /** Headers of each model request besides mm's own. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Whether and where the project's own instructions are read. */
export interface AgentsMdConfig {
  /** Whether the project's instructions are read. */
  readonly enabled: boolean;
  /** Absolute, or relative to the working directory of the session. */
  readonly path: string;
  /** Unicode characters above which the whole file is left out; 0 for no limit. */
  readonly maxChars: number;
}

/** The JSON that an agent answers with. */
export interface StructuredOutputConfig {
  /** A valid JSON Schema. */
  readonly schema: Readonly<Record<string, unknown>>;
}

/** Whether and how many conversations are saved. */
export interface SessionsConfig {
  /** Whether conversations are saved. */
  readonly enabled: boolean;
  /** Conversations that are kept of each project; 0 for all. */
  readonly keep: number;
}

/** A command of the user that runs around an ask. */
export interface HookConfig {
  /** The agents it is for, by name, with `*` for any characters; absent for all. */
  readonly match?: string;
  /** A command line. */
  readonly run: string;
  /** Milliseconds that it may take. */
  readonly timeoutMs: number;
}

/** The hooks of each kind, in the order of the file. */
export interface HooksConfig {
  /** Before an agent is asked. */
  readonly preAsk: readonly HookConfig[];
  /** On an agent's answer. */
  readonly postAsk: readonly HookConfig[];
  /** Before a subagent begins a run. */
  readonly subagentStart: readonly HookConfig[];
  /** When a subagent ended a run. */
  readonly subagentStop: readonly HookConfig[];
}

/** How work is delegated: the key `agents`. */
export interface DelegationConfig {
  /** Folders with definitions besides the usual ones, absolute. */
  readonly paths: readonly string[];
  /** Runs at the same time; `auto`: as many as the model server works on. */
  readonly maxParallel: number | "auto";
  /**
   * Whether a subagent runs in the background where neither the call nor its definition says;
   * `never`: none does, and what is about the background is not offered.
   */
  readonly background: boolean | "never";
  /** How deep a chain of subagents may be: 1 for subagents that start none. 0: no delegation. */
  readonly maxDepth: number;
  /** Whether forks are offered. */
  readonly forks: boolean;
  /** Git worktrees of runs. */
  readonly worktree: {
    /** Whether `isolation` and `working_dir` are offered. */
    readonly enabled: boolean;
    /** Where worktrees are made, absolute; absent for a folder of the state directory. */
    readonly path?: string;
  };
}

/** When a conversation is compressed, and what of it is kept. */
export interface CompactionConfig {
  /** Whether conversations are compressed without being told to. */
  readonly enabled: boolean;
  /** Share of the window from which on a conversation is compressed. */
  readonly threshold: number;
  /** Share of the window that the latest turns may take, which are kept as they are. */
  readonly keep: number;
}

/** The whole configuration of one agent. */
export interface AgentConfig {
  /** The file it came from, absolute; absent for the built-in defaults. */
  readonly file?: string;
  /** What stood in the file when it was read: a SHA-256 in hexadecimal; present with `file`. */
  readonly fileDigest?: string;
  /** The model and its server. */
  readonly model: ModelConfig;
  /** The system prompt; absent for the built-in one. */
  readonly system?: string;
  /** Tools the agent has; absent for all built-in ones. */
  readonly tools?: readonly string[];
  /** Whether gated calls run without a question. */
  readonly yolo: boolean;
  /** Rules of the gate. */
  readonly permissions: PermissionRules;
  /** Characters of one tool result or asked agent's answer that reach the model. */
  readonly maxOutput: number;
  /** Milliseconds that a command may take. */
  readonly bashTimeoutMs: number;
  /** Most milliseconds that the model may ask for one command. */
  readonly bashTimeoutMaxMs: number;
  /** Milliseconds without a sign of life after which a turn is ended. */
  readonly watchdogTimeoutMs: number;
  /** Absent: unlimited. */
  readonly maxTurns?: number;
  /** How the project's instructions are read. */
  readonly agentsMd: AgentsMdConfig;
  /** Whether conversations are saved. */
  readonly sessions: SessionsConfig;
  /** When and how the conversation is compressed. */
  readonly compaction: CompactionConfig;
  /** Present for an agent that answers with JSON. */
  readonly structuredOutput?: StructuredOutputConfig;
  /** Agents that may be asked, in the order of the file. */
  readonly agents: readonly AgentEntry[];
  /** How the agent delegates to subagents. */
  readonly delegation: DelegationConfig;
  /** Commands that run around what the agent does. */
  readonly hooks: HooksConfig;
  /** MCP servers, in the order of the file. */
  readonly mcpServers: readonly McpServerConfig[];
  /** The name editors and asking agents show. */
  readonly title?: string;
}
