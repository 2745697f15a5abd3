/**
 * The conversation as chat completions know it: the only place that writes the provider's shape.
 *
 * @module
 */
import type { ToolCallRequest } from "../base/tool_call.ts";
import type { ModelConfig } from "../config/types.ts";
import { nineLetterId } from "./call_id.ts";
import { asObject, parseJson } from "./json.ts";
import type { Quirks } from "./presets.ts";
import type { AssistantMessage, Image, Message, ModelRequest, ResponseFormat } from "./types.ts";

/** A message as it is sent. */
export type WireMessage = Readonly<Record<string, unknown>>;

/** The body of a request. `messages` stands last, so that bodies of one conversation share a prefix. */
export interface WireBody {
  readonly model: string;
  readonly stream: true;
  readonly messages: readonly WireMessage[];
  readonly [key: string]: unknown;
}

/** What a body is made of besides the conversation. */
export interface WireOptions {
  readonly model: string;
  readonly config: ModelConfig;
  readonly quirks: Quirks;
  /** Whether the server is told the response format. @default {true} */
  readonly sendFormat?: boolean;
  /** Whether images are sent; a note stands in the place of one that is not. @default {true} */
  readonly sendImages?: boolean;
}

/**
 * Returns the body of a request. It depends on nothing but its arguments, and every message on
 * itself alone: a longer conversation's body begins with the shorter one's, byte for byte.
 */
export function wireBody(request: ModelRequest, options: WireOptions): WireBody {
  const { config, quirks } = options;
  const tools = request.tools.map((tool) => ({
    type: "function",
    function: {
      name: tool.name,
      description: tool.description.toWellFormed(),
      parameters: tool.parameters,
    },
  }));
  return {
    model: options.model,
    ...(tools.length === 0 ? {} : { tools }),
    ...(config.temperature === undefined ? {} : { temperature: config.temperature }),
    ...(config.topP === undefined ? {} : { top_p: config.topP }),
    ...(config.maxTokens === undefined ? {} : { [quirks.maxTokensField]: config.maxTokens }),
    ...(config.reasoning === undefined ? {} : effortField(config.reasoning, quirks)),
    ...(request.responseFormat === undefined || options.sendFormat === false
      ? {}
      : formatField(request.responseFormat)),
    stream: true,
    ...(quirks.streamUsage ? { stream_options: { include_usage: true } } : {}),
    messages: request.messages.map((message) =>
      wireMessage(options.sendImages === false ? withoutImages(message) : message, quirks)
    ),
  };
}

function formatField({ name, schema }: ResponseFormat): Readonly<Record<string, unknown>> {
  return { response_format: { type: "json_schema", json_schema: { name, schema } } };
}

function effortField(effort: string, quirks: Quirks): Readonly<Record<string, unknown>> {
  return quirks.effort === "reasoning_effort"
    ? { reasoning_effort: effort }
    : { reasoning: { effort } };
}

/** Returns one message as it is sent. Lone surrogates are replaced: servers refuse them in JSON. */
export function wireMessage(message: Message, quirks: Quirks): WireMessage {
  switch (message.role) {
    case "system":
      return { role: "system", content: message.text.toWellFormed() };
    case "user":
      return { role: "user", content: userContent(message.text, message.images ?? []) };
    case "assistant":
      return assistantMessage(message, quirks);
    case "tool":
      return {
        role: "tool",
        tool_call_id: wireId(message.callId, quirks),
        content: message.text.toWellFormed(),
      };
  }
}

/** Says of the images of a message what they were: a model that takes none refuses the request. */
function withoutImages(message: Message): Message {
  if (message.role !== "user" || message.images === undefined) return message;
  const notes = message.images.map(({ mimeType }) => `[an image (${mimeType}) is not shown here]`);
  return { role: "user", text: [message.text, ...notes].filter((part) => part !== "").join("\n") };
}

function userContent(text: string, images: readonly Image[]): unknown {
  const clean = text.toWellFormed();
  if (images.length === 0) return clean;
  return [
    { type: "text", text: clean },
    ...images.map((image) => ({
      type: "image_url",
      image_url: { url: `data:${image.mimeType};base64,${image.data}` },
    })),
  ];
}

function assistantMessage(message: AssistantMessage, quirks: Quirks): WireMessage {
  const calls = message.toolCalls ?? [];
  const text = message.text.toWellFormed();
  return {
    role: "assistant",
    content: text === "" && calls.length > 0 ? quirks.emptyContent : text,
    ...(quirks.sendReasoning && message.reasoning !== undefined
      ? { reasoning_content: message.reasoning.toWellFormed() }
      : {}),
    ...(calls.length === 0
      ? {}
      : { tool_calls: calls.map((call) => wireCall(call, message, quirks)) }),
  };
}

function wireCall(call: ToolCallRequest, message: AssistantMessage, quirks: Quirks) {
  return {
    id: wireId(call.id, quirks),
    type: "function",
    function: { name: call.name, arguments: wireArguments(call.arguments) },
    // What came with a call goes only to a server that uses such fields.
    ...(quirks.callExtras === undefined ? {} : message.callExtras?.[call.id] ?? quirks.callExtras),
  };
}

/** Templates parse the arguments of the history and fail on what is no JSON object. */
function wireArguments(text: string): string {
  if (text.trim() === "") return "{}";
  if (asObject(parseJson(text)) !== undefined) return text.toWellFormed();
  return JSON.stringify({ invalid_arguments: text.toWellFormed() });
}

function wireId(id: string, quirks: Quirks): string {
  return quirks.callIds === "nine" ? nineLetterId(id) : id;
}
