/**
 * What the engine says to a model and hears from it, free of any provider's wire shape.
 *
 * @module
 */
import type { ToolCallRequest } from "../base/tool_call.ts";
import type { Effort } from "../config/types.ts";

/** One message of a conversation, as the engine keeps it. */
export type Message =
  | { readonly role: "system"; readonly text: string }
  | { readonly role: "user"; readonly text: string; readonly images?: readonly Image[] }
  | AssistantMessage
  | {
    readonly role: "tool";
    readonly callId: string;
    readonly name: string;
    readonly text: string;
  };

/** An answer of the model: text, reasoning, calls of tools. */
export interface AssistantMessage {
  readonly role: "assistant";
  readonly text: string;
  /** What the model thought; shown, never stored as answer. */
  readonly reasoning?: string;
  readonly toolCalls?: readonly ToolCallRequest[];
  /** What the server wants back unchanged with its calls, by the call's id. Nobody else reads it. */
  readonly callExtras?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** An image as input. */
export interface Image {
  /** For example `image/png`. */
  readonly mimeType: string;
  /** Base64. */
  readonly data: string;
}

/** A tool as it is declared to the model. */
export interface ToolDeclaration {
  /** Letters, digits, `_` and `-`. */
  readonly name: string;
  /** What it does and when it is used, for the model. */
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** The shape an answer has to have. */
export interface ResponseFormat {
  /** Letters, digits, `_` and `-`. */
  readonly name: string;
  /** JSON Schema of the answer. */
  readonly schema: Readonly<Record<string, unknown>>;
  /**
   * Whether the answer is due: the model need not be able to call tools any more. Many servers that
   * hold a model to a schema keep it from calling tools.
   */
  readonly due: boolean;
}

/** One request to a model. */
export interface ModelRequest {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDeclaration[];
  /** Told to servers that take it; nobody may rely on it. */
  readonly responseFormat?: ResponseFormat;
}

/** What happens while a model answers. */
export type ModelEvent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thought"; readonly text: string }
  /** A sign of life without content: a keep-alive comment, a piece of a tool call. */
  | { readonly type: "alive" }
  /** mm waits `ms` milliseconds before it tries again; `reason` says why, in words for the user. */
  | { readonly type: "waiting"; readonly reason: string; readonly ms: number };

/** Tokens as the server counted them. */
export interface Usage {
  /** Tokens of the requests. */
  readonly inputTokens: number;
  /** Tokens of the answers. */
  readonly outputTokens: number;
  /** Input tokens the server took from its prompt cache, where it says so. */
  readonly cachedTokens?: number;
  /** What the request cost in US dollars, where the server says so. */
  readonly cost?: number;
}

/** Why a model stopped: it was done, it called tools, it met its limit, it refused. */
export type FinishReason = "stop" | "tool_calls" | "length" | "refusal";

/** The whole answer to one request. */
export interface ModelReply {
  readonly message: AssistantMessage;
  readonly finish: FinishReason;
  readonly usage?: Usage;
  /** Whether the server was told the response format. */
  readonly constrained?: boolean;
}

/** Options of {@linkcode ModelClient.complete}. */
export interface CompleteOptions {
  /** Ends the request and any wait at once. */
  readonly signal: AbortSignal;
  readonly onEvent: (event: ModelEvent) => void;
  /** How long a server that loads or is not up yet is waited for, in milliseconds. */
  readonly patienceMs: number;
}

/** What a server says about its model. Unknown things are absent. */
export interface ModelFacts {
  /** The window in tokens. */
  readonly contextWindow?: number;
  /** What the server says of the window, where the configuration declares another one. */
  readonly serverWindow?: number;
  /** Requests the server works on at the same time. */
  readonly slots?: number;
  readonly images?: boolean;
}

/** What can be changed while mm runs. Absent things are those of the server. */
export interface ModelSettings {
  /** The model's name on its server. */
  readonly model?: string;
  /** How much the model thinks. */
  readonly reasoning?: Effort;
}

/** A model on a server. */
export interface ModelClient {
  /** `provider/model`, as it is shown. The model may be unknown until {@linkcode ModelClient.facts} is done. */
  readonly label: string;
  /** The server's address without secrets, as it is shown; empty for the demo model. */
  readonly url: string;
  /** The window in tokens, once it is known: configured, or told by the server. */
  readonly contextWindow: number | undefined;
  /** Whether the model takes images, once it is known: configured, or told by the server. */
  readonly images: boolean | undefined;
  /** What is in use; the model may be unknown until {@linkcode ModelClient.facts} is done. */
  readonly settings: ModelSettings;
  /** The efforts that can be chosen; empty where there is nothing to choose. */
  readonly efforts: readonly Effort[];
  /** Whether the server is asked about itself without a prompt: then it may be asked for its models. */
  readonly asked: boolean;
  /**
   * Lists the names of the server's models that can answer. Never rejects.
   *
   * @returns `undefined` when the server does not say, or not in time.
   */
  models(options: { readonly signal?: AbortSignal }): Promise<readonly string[] | undefined>;
  /** Returns the client of the same server with exactly these settings. */
  with(settings: ModelSettings): ModelClient;
  /**
   * Finds out which model answers and what it can do, once; later calls return the same promise.
   * Never rejects because a server is silent: unknown facts are absent.
   */
  facts(options: { readonly signal?: AbortSignal }): Promise<ModelFacts>;
  /**
   * Sends one request and returns the whole answer.
   *
   * @throws {ModelError} when no answer was obtained; its `partial` holds what was received.
   * @throws the signal's reason when it was aborted.
   */
  complete(request: ModelRequest, options: CompleteOptions): Promise<ModelReply>;
}

/** What kind of failure a model error is. */
export type ModelErrorKind =
  /** The server cannot be reached, or went on loading for longer than was waited. */
  | "unreachable"
  /** The server answered with an error status, or with an error inside its answer. */
  | "server"
  /** The request does not fit the model's window. */
  | "context_exceeded"
  /** What came is no answer: a page of HTML, an empty body, a stream that ended early. */
  | "malformed";

/** Options of {@linkcode ModelError}. */
export interface ModelErrorOptions extends ErrorOptions {
  readonly kind: ModelErrorKind;
  /** HTTP status, where there was one. */
  readonly status?: number;
  /** What had been received before the failure. */
  readonly partial?: AssistantMessage;
}

/** A request that got no answer. The message names the model, the URL and the server's own words. */
export class ModelError extends Error {
  readonly kind: ModelErrorKind;
  readonly status: number | undefined;
  readonly partial: AssistantMessage | undefined;

  /** Creates the error from a sentence without a final period and without secrets. */
  constructor(message: string, options: ModelErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ModelError";
    this.kind = options.kind;
    this.status = options.status;
    this.partial = options.partial;
  }
}
