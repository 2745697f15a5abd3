/**
 * What a scripted model answers, and how it is written to the wire.
 *
 * @module
 */
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/** A call of a tool that the model asks for. */
export interface ReplyCall {
  readonly name: string;
  /** An object, or the literal text of the arguments where it is to be broken. */
  readonly arguments: unknown;
  /** @default a new one for each call */
  readonly id?: string;
}

/** Tokens as a server counts them, and whatever else it says about them. */
export interface ReplyUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly prompt_tokens_details?: { readonly cached_tokens: number };
  /** US dollars. */
  readonly cost?: number;
}

/** One answer. Everything is optional: `{}` answers with an empty text. */
export interface Reply {
  /** The answer's text, streamed word by word. */
  readonly text?: string;
  /** The answer's text in exactly these pieces. */
  readonly chunks?: readonly string[];
  /** Sent before the text as `reasoning_content`. */
  readonly reasoning?: string;
  readonly toolCalls?: readonly ReplyCall[];
  /** The finish reason; `null` sends none. @default {"stop", or "tool_calls" with calls} */
  readonly finish?: string | null;
  /** Tokens; `false` sends none. @default a rough count */
  readonly usage?: ReplyUsage | false;
  /** Milliseconds before the first byte, and between pieces. */
  readonly delayMs?: number;
  readonly chunkDelayMs?: number;
  /** Goes on only when the promise settles: see {@linkcode Reply.holdAfter}. */
  readonly holdUntil?: Promise<unknown>;
  /** Never goes on: the client has to leave. */
  readonly hang?: boolean;
  /** Pieces of text sent before `holdUntil` or `hang` holds; 0 holds even the head. @default {0} */
  readonly holdAfter?: number;
  /** Pieces of text sent before the connection is cut. */
  readonly cutAfter?: number;
  /** Answers with this HTTP status and `body` instead of a stream. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text, or a value that is sent as JSON. */
  readonly body?: unknown;
  /** Exactly these bytes as the body of the answer, as an event stream unless `headers` differ. */
  readonly raw?: Uint8Array | string;
}

/** What the writer needs to know of the request. */
export interface ReplyContext {
  readonly response: ServerResponse;
  readonly model: string;
  readonly stream: boolean;
  /** Bytes of the request, for the default token count. */
  readonly requestBytes: number;
  /** Aborted when the client left or the server closes. */
  readonly signal: AbortSignal;
  /** A number no other call of this server has. */
  readonly nextCallId: () => string;
}

/**
 * Writes an answer.
 *
 * @throws the signal's reason when the client left before the end.
 */
export async function writeReply(reply: Reply, context: ReplyContext): Promise<void> {
  const { response, signal } = context;
  if (reply.delayMs !== undefined) await sleep(reply.delayMs, undefined, { signal });
  const holds = reply.hang === true || reply.holdUntil !== undefined;
  if (holds && (reply.holdAfter ?? 0) === 0) await hold(reply, signal);
  if (reply.status !== undefined || reply.body !== undefined) return writeBody(reply, response);
  if (reply.raw !== undefined) {
    response.writeHead(200, { "content-type": "text/event-stream", ...reply.headers });
    response.end(reply.raw);
    return;
  }
  if (!context.stream) return writeWhole(reply, context);
  await writeStream(reply, context);
}

async function writeStream(reply: Reply, context: ReplyContext): Promise<void> {
  const { response, signal } = context;
  response.writeHead(200, {
    "content-type": "text/event-stream",
    "cache-control": "no-cache",
    ...reply.headers,
  });
  const send = (choices: unknown[], more: Record<string, unknown> = {}) =>
    response.write(`data: ${JSON.stringify({ ...envelope(context), choices, ...more })}\n\n`);
  const delta = (value: unknown, finish: string | null = null) =>
    send([{ index: 0, delta: value, finish_reason: finish }]);

  delta({ role: "assistant", content: "" });
  if (reply.reasoning !== undefined) {
    for (const piece of words(reply.reasoning)) delta({ reasoning_content: piece });
  }
  let sent = 0;
  for (const piece of piecesOf(reply)) {
    if (reply.cutAfter === sent) break;
    if (reply.holdAfter === sent && sent > 0) await hold(reply, signal);
    delta({ content: piece });
    sent++;
    if (reply.chunkDelayMs !== undefined) {
      await sleep(reply.chunkDelayMs, undefined, { signal });
    } else if (sent % 100 === 0) {
      // Lets the socket drain and notices a client that left.
      await sleep(0, undefined, { signal });
    }
  }
  if (reply.cutAfter !== undefined) {
    // The head and the pieces have to be on their way before the connection goes.
    await sleep(20, undefined, { signal });
    response.destroy();
    return;
  }
  if ((reply.holdAfter ?? 0) > 0 && sent <= (reply.holdAfter ?? 0)) await hold(reply, signal);
  (reply.toolCalls ?? []).forEach((call, index) => {
    const id = call.id ?? context.nextCallId();
    const text = argumentsOf(call);
    const half = Math.ceil(text.length / 2);
    const first = { name: call.name, arguments: text.slice(0, half) };
    delta({ tool_calls: [{ index, id, type: "function", function: first }] });
    if (text.length > half) {
      delta({ tool_calls: [{ index, function: { arguments: text.slice(half) } }] });
    }
  });
  if (reply.finish !== null) delta({}, finishOf(reply));
  if (reply.usage !== false) send([], { usage: usageOf(reply, context) });
  response.end("data: [DONE]\n\n");
}

function writeWhole(reply: Reply, context: ReplyContext): void {
  const calls = (reply.toolCalls ?? []).map((call) => ({
    id: call.id ?? context.nextCallId(),
    type: "function",
    function: { name: call.name, arguments: argumentsOf(call) },
  }));
  const message = {
    role: "assistant",
    content: piecesOf(reply).join(""),
    ...(reply.reasoning === undefined ? {} : { reasoning_content: reply.reasoning }),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  const body = {
    ...envelope(context),
    object: "chat.completion",
    choices: [{ index: 0, message, finish_reason: finishOf(reply) }],
    ...(reply.usage === false ? {} : { usage: usageOf(reply, context) }),
  };
  writeBody({ body, ...(reply.headers ? { headers: reply.headers } : {}) }, context.response);
}

/** Writes a status, headers and a body that is no stream. */
export function writeBody(reply: Reply, response: ServerResponse): void {
  const isText = typeof reply.body === "string";
  response.writeHead(reply.status ?? 200, {
    "content-type": isText ? "text/plain" : "application/json",
    ...reply.headers,
  });
  response.end(isText ? reply.body : JSON.stringify(reply.body ?? {}));
}

function envelope(context: ReplyContext): Record<string, unknown> {
  return { id: "cmpl-1", object: "chat.completion.chunk", created: 1, model: context.model };
}

function piecesOf(reply: Reply): readonly string[] {
  return reply.chunks ?? words(reply.text ?? "");
}

function words(text: string): string[] {
  return text.match(/\s*\S+\s*$|\s*\S+/gu) ?? (text === "" ? [] : [text]);
}

function argumentsOf(call: ReplyCall): string {
  return typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);
}

function finishOf(reply: Reply): string | null {
  if (reply.finish !== undefined) return reply.finish;
  return (reply.toolCalls ?? []).length > 0 ? "tool_calls" : "stop";
}

function usageOf(reply: Reply, context: ReplyContext) {
  const usage = reply.usage || {
    prompt_tokens: Math.ceil(context.requestBytes / 4),
    completion_tokens: Math.max(1, piecesOf(reply).length),
  };
  return { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens };
}

async function hold(reply: Reply, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let leave = () => {};
  const left = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason);
    signal.addEventListener("abort", leave, { once: true });
  });
  try {
    await (reply.hang === true ? left : Promise.race([reply.holdUntil, left]));
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
