/**
 * Events to deltas: one chunk of a chat completion, read with tolerance.
 *
 * Everything here is a pure function of one event; what belongs together over several chunks is
 * the accumulator's work.
 *
 * @module
 */
import { asArray, asCount, asObject, asText, type JsonObject, parseJson } from "./json.ts";
import { type ServerWords, wordsOf } from "./server_words.ts";
import type { Usage } from "./types.ts";

/** A piece of a tool call. */
export interface CallPiece {
  readonly index?: number;
  readonly id?: string;
  readonly name?: string;
  /** A piece of JSON text, or the arguments as a whole. */
  readonly arguments?: string | JsonObject;
  /** What the server wants back unchanged with this call. */
  readonly extra?: JsonObject;
}

/** What one chunk adds to the answer. */
export interface Delta {
  readonly text?: string;
  readonly thought?: string;
  readonly calls?: readonly CallPiece[];
  /** The server's own word for why the model stopped. */
  readonly finish?: string;
  readonly usage?: Usage;
}

/** What one event is. */
export type Chunk =
  | { readonly type: "delta"; readonly delta: Delta }
  | { readonly type: "done" }
  | { readonly type: "error"; readonly words: ServerWords }
  /** Neither content nor an error: a keep-alive in the wrong form, a broken line. */
  | { readonly type: "noise" };

const DONE: Chunk = { type: "done" };
const NOISE: Chunk = { type: "noise" };

/** Reads the data of one event. Never throws. */
export function readChunk(data: string, event?: string): Chunk {
  const first = data.charCodeAt(0);
  // "[DONE]", with whatever white space around it.
  if (first !== 0x7b && data.trim() === "[DONE]") return DONE;
  const json = parseJson(data);
  if (event === "error") return { type: "error", words: wordsOf(json ?? data) };
  const object = asObject(json);
  if (object === undefined) return NOISE;
  if (object["error"] !== undefined && object["error"] !== null) {
    return { type: "error", words: wordsOf(object) };
  }
  return readCompletion(object);
}

/** Reads a chunk, or a whole completion: they differ in `delta` and `message` only. */
export function readCompletion(object: JsonObject): Chunk {
  const choice = choiceOf(object["choices"]);
  if (choice === undefined && object["type"] === "error") {
    return { type: "error", words: wordsOf(object) };
  }
  if (choice?.["error"] !== undefined && choice["error"] !== null) {
    return { type: "error", words: wordsOf(choice) };
  }
  const usage = usageOf(object);
  const body = asObject(choice?.["delta"]) ?? asObject(choice?.["message"]);
  const content = contentOf(body?.["content"]);
  const text = content.text ?? asText(body?.["refusal"]) ?? asText(choice?.["text"]);
  const thought = content.thought ?? (body === undefined ? undefined : thoughtOf(body));
  const calls = body === undefined ? undefined : callsOf(body);
  const finish = asText(choice?.["finish_reason"]);
  return {
    type: "delta",
    delta: {
      ...(text === undefined ? {} : { text }),
      ...(thought === undefined ? {} : { thought }),
      ...(calls === undefined ? {} : { calls }),
      ...(finish === undefined ? {} : { finish }),
      ...(usage === undefined ? {} : { usage }),
    },
  };
}

function choiceOf(choices: unknown): JsonObject | undefined {
  // Only one answer is asked for: others, should a server send them, are not it.
  for (const entry of asArray(choices)) {
    const choice = asObject(entry);
    if (choice !== undefined && (asCount(choice["index"]) ?? 0) === 0) return choice;
  }
  return undefined;
}

/** Content is a text, or a list of parts; Mistral puts its reasoning among the parts. */
function contentOf(content: unknown): { readonly text?: string; readonly thought?: string } {
  if (typeof content === "string") return content === "" ? {} : { text: content };
  let text = "";
  let thought = "";
  for (const entry of asArray(content)) {
    const part = asObject(entry);
    if (part === undefined) continue;
    const inner = part["thinking"] ?? part["reasoning"];
    if (inner !== undefined) thought += contentOf(inner).text ?? "";
    else text += asText(part["text"]) ?? "";
  }
  return { ...(text === "" ? {} : { text }), ...(thought === "" ? {} : { thought }) };
}

/** Servers send the same reasoning under several names at once: the first that is there counts. */
function thoughtOf(body: JsonObject): string | undefined {
  const plain = asText(body["reasoning_content"]) ?? asText(body["reasoning"]) ??
    asText(body["thinking"]);
  if (plain !== undefined) return plain;
  let thought = "";
  for (const entry of asArray(body["reasoning_details"])) {
    const detail = asObject(entry);
    thought += asText(detail?.["text"]) ?? asText(detail?.["summary"]) ?? "";
  }
  return asText(thought);
}

function callsOf(body: JsonObject): readonly CallPiece[] | undefined {
  const pieces: CallPiece[] = [];
  const list = body["tool_calls"];
  for (const entry of Array.isArray(list) ? list : list === undefined ? [] : [list]) {
    const call = asObject(entry);
    if (call !== undefined) pieces.push(pieceOf(call, asObject(call["function"]) ?? call));
  }
  // The older interface, still spoken by some servers.
  const legacy = asObject(body["function_call"]);
  if (legacy !== undefined) pieces.push(pieceOf({}, legacy));
  return pieces.length === 0 ? undefined : pieces;
}

function pieceOf(call: JsonObject, body: JsonObject): CallPiece {
  const index = asCount(call["index"]);
  const id = typeof call["id"] === "number" ? String(call["id"]) : asText(call["id"]);
  const name = asText(body["name"]);
  const raw = body["arguments"] ?? body["parameters"];
  const whole = Array.isArray(raw) ? undefined : asObject(raw);
  const text = typeof raw === "string" ? asText(raw) : undefined;
  const extra = asObject(call["extra_content"]);
  return {
    ...(index === undefined ? {} : { index }),
    ...(id === undefined ? {} : { id }),
    ...(name === undefined ? {} : { name }),
    ...(whole !== undefined ? { arguments: whole } : text !== undefined ? { arguments: text } : {}),
    ...(extra === undefined ? {} : { extra: { extra_content: extra } }),
  };
}

function usageOf(object: JsonObject): Usage | undefined {
  const usage = asObject(object["usage"]) ?? asObject(asObject(object["x_groq"])?.["usage"]);
  if (usage === undefined) return undefined;
  const inputTokens = asCount(usage["prompt_tokens"]) ?? asCount(usage["input_tokens"]);
  const outputTokens = asCount(usage["completion_tokens"]) ?? asCount(usage["output_tokens"]);
  if (inputTokens === undefined && outputTokens === undefined) return undefined;
  const details = asObject(usage["prompt_tokens_details"]) ??
    asObject(usage["input_tokens_details"]);
  const cachedTokens = asCount(details?.["cached_tokens"]) ??
    asCount(usage["prompt_cache_hit_tokens"]) ?? asCount(asObject(object["timings"])?.["cache_n"]);
  const cost = asCount(usage["cost"]);
  return {
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    ...(cachedTokens === undefined ? {} : { cachedTokens }),
    ...(cost === undefined ? {} : { cost }),
  };
}
