/**
 * The file that `mm -init` writes: what was found, and every other key commented out.
 *
 * @module
 */
import { stringify } from "yaml";
import type { ProviderName } from "./types.ts";

/** What `mm -init` found. */
export interface InitTemplateOptions {
  readonly provider: ProviderName;
  /** Absent: the provider's own address. */
  readonly baseUrl?: string;
  /** Absent: whatever model the server has loaded. */
  readonly model?: string;
  /** In tokens. */
  readonly contextWindow?: number;
}

/**
 * Returns the text of an `agent.yaml`. It loads as it is, and with any of the keys that are
 * commented out (`#key:`, without a space) made active. Comments in words begin with `# `.
 */
export function initTemplate(options: InitTemplateOptions): string {
  const { provider, baseUrl, model, contextWindow } = options;
  return `\
# An mm agent. Every key is optional; one that begins with # shows its default or an example.
# mm -check tries the file; docs/reference/configuration.md explains each key.

# The model: llamacpp, ollama, lmstudio, vllm, openai, mistral, gemini, anthropic, openrouter,
# deepseek, groq, xai, custom (any OpenAI-compatible server: set baseUrl), demo (no model).
provider: ${scalar(provider)}
${baseUrl === undefined ? "#baseUrl: http://127.0.0.1:8080/v1" : `baseUrl: ${scalar(baseUrl)}`}
# A key is read from the environment, so that it does not stand in a file.
#apiKey: \${API_KEY}
${model === undefined ? "#model: name-on-the-server" : `model: ${scalar(model)}`}
# Tokens; the server is asked when it is not given.
${contextWindow === undefined ? "#contextWindow: 32768" : `contextWindow: ${contextWindow}`}
# Tokens of one answer.
#maxTokens: 8192
#temperature: 0.7
#topP: 0.95
#headers: {X-Title: mm}
# none, minimal, low, medium or high.
#reasoning: medium
# What is known about the server, where it is not as mm takes it to be.
#textCalls: true
#sendReasoning: false
#images: false

# The system prompt instead of mm's own: text, or {file: prompt.md} beside this file.
#system: You are a careful engineer. Answer in short sentences.

# What it can do. No list: all built-in tools.
#tools: [bash, read, write, edit, glob, grep, ls, fetch, todo, ask_user, ask_agent, agent,
#  list_agents, send_message, wait_agent, task_stop]
# true: commands and edits run without a question.
#yolo: false
# Rules: tool, tool(pattern), agent/tool(pattern). deny wins over ask, ask over yolo.
#permissions: {allow: ["bash(git status)"], ask: [], deny: []}

# Limits. Durations: 500ms, 30s, 5m, or a number of seconds.
#maxOutput: 20000
#bashTimeout: 30s
#bashTimeoutMax: 10m
#watchdogTimeout: 5m
# Model requests in one turn; unlimited when it is not given.
#maxTurns: 100

# Agents this one may ask: /ask-bob, or by the model when the description fits.
#mmConfigs:
#  bob:
#    path: bob.yaml
#    description: Reviews a change for mistakes
#    yolo: false
#    timeout: 5m
#    env: {LANG: C.UTF-8}
#    cwd: .
#  other:
#    command: [some-acp-agent, --stdio]

# Subagents, which do a part of the work: .mm/agents/<name>.md defines one; see /agents.
# maxDepth 0: none. background: true, false or never.
#agents: {maxParallel: auto, background: true, maxDepth: 2, forks: true}

# Commands around each ask and each run of a subagent: JSON on stdin and stdout, exit status 2
# refuses.
#hooks:
#  preAsk: [{match: bob, run: ./check-question.sh, timeout: 10s}]
#  postAsk: [{run: ./check-answer.sh}]
#  subagentStart: [{match: explore, run: ./add-context.sh}]
#  subagentStop: [{run: ./is-it-done.sh}]

# MCP servers: their tools are called mcp__files__read_file and so on.
#mcpServers:
#  files:
#    command: mcp-server-filesystem
#    args: [.]
#    env: {LANG: C.UTF-8}
#  docs:
#    url: https://mcp.example.com/mcp
#    headers: {X-Team: tools}

# The project's own instructions, read from the working directory. maxChars 0: no limit.
#agentsMd: {enabled: true, path: AGENTS.md, maxChars: 0}
# Saved conversations (mm -continue, /resume): how many of each project; 0 for all.
#sessions: {enabled: true, keep: 200}
# When a conversation is compressed, and how much of it is kept as it is: shares of the window.
#compaction: {enabled: true, threshold: 0.8, keep: 0.2}

# Answers are JSON of this shape, and nothing else. Also {file: schema.json} beside this file.
#structuredOutput:
#  schema: {type: object, properties: {verdict: {type: string}}, required: [verdict]}

# The name that editors and asking agents show.
#acp: {title: My agent}
`;
}

/** The names come from a server: quoted where YAML needs it, and never read as a variable. */
function scalar(value: string): string {
  return stringify(value.replaceAll("${", () => "$${"), { blockQuote: false, lineWidth: 0 })
    .trimEnd();
}
