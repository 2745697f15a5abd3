/**
 * The providers mm knows, as data: where they are, which variable holds their key, how they are
 * probed, and in what their wire differs from plain chat completions.
 *
 * @module
 */
import type { Effort, ProviderName } from "../config/types.ts";

/** How the facts about a server and its models are found; `models`: in its list of models. */
export type ProbeKind = "llamacpp" | "ollama" | "lmstudio" | "models" | "custom" | "none";

/** In what a server's wire differs from plain chat completions. */
export interface Quirks {
  /** Whether `stream_options.include_usage` is understood; some servers refuse unknown fields. */
  readonly streamUsage: boolean;
  /** The name under which the server takes the output limit. */
  readonly maxTokensField: "max_tokens" | "max_completion_tokens";
  /** `content` of an assistant message that only calls tools. Strict templates fail on `null`. */
  readonly emptyContent: "" | null;
  /** How the reasoning effort is sent. */
  readonly effort: "reasoning_effort" | "reasoning.effort";
  /**
   * Whether earlier reasoning goes back to the server as `reasoning_content`. It then goes with
   * every message of the history, not only those of the current round of tools, so that the prefix
   * of two requests stays the same; what is old is left out by the server's own template.
   */
  readonly sendReasoning: boolean;
  /** `nine`: ids of tool calls must be nine letters or digits. */
  readonly callIds: "any" | "nine";
  /** Fields every tool call in the history carries when the server gave none of its own. */
  readonly callExtras?: Readonly<Record<string, unknown>>;
  /**
   * Whether a model that is held to a schema (`response_format`) can still call tools. Servers that
   * do it with a grammar let no call through.
   */
  readonly formatWithTools: boolean;
  /** Whether a call written as text in a form that models are trained on counts as a call. */
  readonly textCalls: boolean;
}

/** What mm knows about a provider. */
export interface Preset {
  readonly name: ProviderName;
  /** As people write it, for messages. */
  readonly title: string;
  /** Absent: the configuration has to give it. */
  readonly baseUrl?: string;
  /** The environment variable that holds the key. */
  readonly keyVariable?: string;
  /** Whether the provider refuses requests without a key. */
  readonly needsKey: boolean;
  /** Whether it runs on this machine by default; then it is waited for while it starts. */
  readonly local: boolean;
  readonly probe: ProbeKind;
  /** The model taken when none is configured; absent: the server's first one. */
  readonly defaultModel?: string;
  /** Whether its models take images, where the server itself does not say. @default {false} */
  readonly images?: boolean;
  /** The reasoning efforts it takes. @default {none: sent only when configured} */
  readonly efforts?: readonly Effort[];
  readonly quirks: Quirks;
}

const PLAIN: Quirks = {
  streamUsage: true,
  maxTokensField: "max_tokens",
  emptyContent: "",
  effort: "reasoning_effort",
  sendReasoning: false,
  callIds: "any",
  formatWithTools: true,
  textCalls: false,
};

// Local servers turn a model's own notation of calls into tool calls only where they know it.
const LOCAL: Quirks = { ...PLAIN, textCalls: true, formatWithTools: false };

/** All providers but `demo`, in the order in which keys in the environment are looked for. */
export const PRESETS: Readonly<Record<Exclude<ProviderName, "demo">, Preset>> = {
  llamacpp: {
    name: "llamacpp",
    title: "llama.cpp",
    baseUrl: "http://127.0.0.1:8080/v1",
    keyVariable: "LLAMA_API_KEY",
    needsKey: false,
    local: true,
    probe: "llamacpp",
    // Its templates render the reasoning of the current round; leaving it out re-reads the prompt.
    quirks: { ...LOCAL, sendReasoning: true },
  },
  ollama: {
    name: "ollama",
    title: "Ollama",
    baseUrl: "http://127.0.0.1:11434/v1",
    keyVariable: "OLLAMA_API_KEY",
    needsKey: false,
    local: true,
    probe: "ollama",
    efforts: ["none", "low", "medium", "high"],
    quirks: LOCAL,
  },
  lmstudio: {
    name: "lmstudio",
    title: "LM Studio",
    baseUrl: "http://127.0.0.1:1234/v1",
    needsKey: false,
    local: true,
    probe: "lmstudio",
    quirks: LOCAL,
  },
  vllm: {
    name: "vllm",
    title: "vLLM",
    baseUrl: "http://127.0.0.1:8000/v1",
    keyVariable: "VLLM_API_KEY",
    needsKey: false,
    local: true,
    probe: "models",
    quirks: LOCAL,
  },
  openai: {
    name: "openai",
    title: "OpenAI",
    baseUrl: "https://api.openai.com/v1",
    keyVariable: "OPENAI_API_KEY",
    needsKey: true,
    local: false,
    probe: "none",
    defaultModel: "gpt-5",
    images: true,
    efforts: ["minimal", "low", "medium", "high"],
    quirks: { ...PLAIN, maxTokensField: "max_completion_tokens" },
  },
  mistral: {
    name: "mistral",
    title: "Mistral",
    baseUrl: "https://api.mistral.ai/v1",
    keyVariable: "MISTRAL_API_KEY",
    needsKey: true,
    local: false,
    probe: "models",
    defaultModel: "mistral-medium-latest",
    // Refuses fields it does not know and sends usage without being asked.
    quirks: { ...PLAIN, streamUsage: false, callIds: "nine" },
  },
  gemini: {
    name: "gemini",
    title: "Gemini",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai",
    keyVariable: "GEMINI_API_KEY",
    needsKey: true,
    local: false,
    probe: "none",
    defaultModel: "gemini-flash-latest",
    images: true,
    efforts: ["none", "low", "medium", "high"],
    quirks: {
      ...PLAIN,
      // Gemini 3 refuses a call without its signature; this value is documented for calls whose
      // signature is not known (from another model, or from an older session).
      callExtras: {
        extra_content: { google: { thought_signature: "skip_thought_signature_validator" } },
      },
    },
  },
  anthropic: {
    name: "anthropic",
    title: "Anthropic",
    baseUrl: "https://api.anthropic.com/v1",
    keyVariable: "ANTHROPIC_API_KEY",
    needsKey: true,
    local: false,
    probe: "none",
    defaultModel: "claude-sonnet-4-5",
    images: true,
    quirks: PLAIN,
  },
  openrouter: {
    name: "openrouter",
    title: "OpenRouter",
    baseUrl: "https://openrouter.ai/api/v1",
    keyVariable: "OPENROUTER_API_KEY",
    needsKey: true,
    local: false,
    probe: "models",
    defaultModel: "openrouter/auto",
    efforts: ["none", "minimal", "low", "medium", "high"],
    quirks: { ...PLAIN, effort: "reasoning.effort" },
  },
  deepseek: {
    name: "deepseek",
    title: "DeepSeek",
    baseUrl: "https://api.deepseek.com/v1",
    keyVariable: "DEEPSEEK_API_KEY",
    needsKey: true,
    local: false,
    probe: "none",
    defaultModel: "deepseek-chat",
    // Its thinking mode refuses a round of tools whose reasoning is missing.
    quirks: { ...PLAIN, sendReasoning: true },
  },
  groq: {
    name: "groq",
    title: "Groq",
    baseUrl: "https://api.groq.com/openai/v1",
    keyVariable: "GROQ_API_KEY",
    needsKey: true,
    local: false,
    probe: "models",
    defaultModel: "openai/gpt-oss-120b",
    efforts: ["low", "medium", "high"],
    quirks: { ...PLAIN, maxTokensField: "max_completion_tokens" },
  },
  xai: {
    name: "xai",
    title: "xAI",
    baseUrl: "https://api.x.ai/v1",
    keyVariable: "XAI_API_KEY",
    needsKey: true,
    local: false,
    probe: "none",
    defaultModel: "grok-4",
    images: true,
    quirks: { ...PLAIN, maxTokensField: "max_completion_tokens" },
  },
  custom: {
    name: "custom",
    title: "the server",
    needsKey: false,
    // Its address decides.
    local: false,
    probe: "custom",
    quirks: LOCAL,
  },
};
