/**
 * A scripted model server for programs that no one here wrote: chat completions, the responses API and
 * the Gemini API, streamed or whole, with one script behind all.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { GEMINI } from "./gemini_wire.ts";
import type { PeerAnswer, PeerReply, PeerRequest, PeerWire } from "./peer_wire.ts";

/** The script: what to answer. */
export type PeerScript = (request: PeerRequest) => PeerReply;

// deno-lint-ignore no-explicit-any
type Json = any;

/** A server that runs. */
export class PeerModel implements AsyncDisposable {
  readonly requests: PeerRequest[] = [];
  readonly #script: PeerScript;
  readonly #server = createServer((request, response) => void this.#handle(request, response));
  #calls = 0;

  /** Use {@linkcode startPeerModel}. */
  constructor(script: PeerScript) {
    this.#script = script;
  }

  /** The address: `http://127.0.0.1:<port>/v1`. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** Starts to listen. */
  listen(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const path = request.url ?? "/";
      const body = await bodyOf(request);
      if (path.endsWith("/models")) {
        return sendJson(response, { object: "list", data: [{ id: "mock", object: "model" }] });
      }
      const wire = wireOf(path);
      if (wire === undefined) return sendJson(response, { error: { message: "no" } }, 404);
      const { authorization, "x-goog-api-key": key } = request.headers;
      const asked = { ...wire.read(body), authorization: authorization ?? String(key), body };
      this.requests.push(asked);
      const reply = this.#script(asked);
      if ("hang" in reply) return;
      if (reply.delayMs !== undefined) await sleep(reply.delayMs);
      const id = `call_${++this.#calls}`;
      const streamed = wire === GEMINI ? path.includes(":stream") : body.stream === true;
      if (!streamed) return sendJson(response, wire.whole(reply, id));
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const event of wire.events(reply, id)) {
        const name = typeof event.type === "string" ? `event: ${event.type}\n` : "";
        response.write(`${name}data: ${JSON.stringify(event)}\n\n`);
      }
      response.end(wire === CHAT ? "data: [DONE]\n\n" : "");
    } catch {
      response.destroy();
    }
  }
}

/** Starts a server on a free port of 127.0.0.1. */
export async function startPeerModel(script: PeerScript): Promise<PeerModel> {
  const server = new PeerModel(script);
  await server.listen();
  return server;
}

function wireOf(path: string): PeerWire | undefined {
  const route = path.split("?")[0] ?? "";
  if (route.endsWith("/chat/completions")) return CHAT;
  if (route.endsWith("/responses")) return RESPONSES;
  return /:(?:streamG|g)enerateContent$/u.test(route) ? GEMINI : undefined;
}

const USAGE = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 };

const CHAT: PeerWire = {
  read: (body) => {
    const messages: Json[] = body.messages ?? [];
    const last = messages.findLastIndex((m) => m.role === "user");
    return {
      question: messages.filter((m) => m.role === "user").map((m) => textOf(m.content)).join("\n"),
      results: messages.slice(last + 1).filter((m) => m.role === "tool")
        .map((m) => textOf(m.content)),
      tools: (body.tools ?? []).map((tool: Json) => String(tool.function?.name)),
    };
  },
  whole: (reply, id) => ({
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "mock",
    choices: [{ index: 0, message: chatMessage(reply, id), finish_reason: chatFinish(reply) }],
    usage: USAGE,
  }),
  events: (reply, id) => {
    const chunk = (choices: Json[], more: Json = {}) => ({
      id: "c",
      object: "chat.completion.chunk",
      created: 1,
      model: "mock",
      choices,
      ...more,
    });
    const message = chatMessage(reply, id);
    const calls = message.tool_calls?.map((call: Json, index: number) => ({ index, ...call }));
    const delta = { ...message, ...(calls === undefined ? {} : { tool_calls: calls }) };
    return [
      chunk([{ index: 0, delta, finish_reason: null }]),
      chunk([{ index: 0, delta: {}, finish_reason: chatFinish(reply) }]),
      chunk([], { usage: USAGE }),
    ];
  },
};

function chatMessage(reply: PeerAnswer, id: string): Json {
  if ("text" in reply) return { role: "assistant", content: reply.text };
  return {
    role: "assistant",
    content: "",
    tool_calls: reply.calls.map((call, at) => ({
      id: `${id}_${at}`,
      type: "function",
      function: { name: call.name, arguments: JSON.stringify(call.arguments) },
    })),
  };
}

const chatFinish = (reply: PeerAnswer) => "text" in reply ? "stop" : "tool_calls";

const RESPONSES: PeerWire = {
  read: (body) => {
    const items: Json[] = typeof body.input === "string"
      ? [{ role: "user", content: body.input }]
      : body.input ?? [];
    const asks = (item: Json) => item.role === "user" && !tells(item);
    const last = items.findLastIndex(asks);
    return {
      question: items.filter(asks).map((item) => textOf(item.content)).join("\n"),
      results: items.slice(last + 1)
        .filter((item) => tells(item) || /_output$/u.test(item.type ?? ""))
        .map((item) => textOf(item.output ?? item.content)),
      tools: (body.tools ?? []).flatMap((tool: Json) => tool.tools ?? [tool])
        .map((tool: Json) => String(tool.name)),
    };
  },
  whole: (reply, id) => ({
    id: "r",
    object: "response",
    status: "completed",
    model: "mock",
    output: responsesItems(reply, id),
    usage: { input_tokens: 10, output_tokens: 2, total_tokens: 12 },
  }),
  events: (reply, id) => {
    const response = RESPONSES.whole(reply, id);
    const items = responsesItems(reply, id).flatMap((item, at) => [
      {
        type: "response.output_item.added",
        output_index: at,
        item: { ...item, status: "in_progress" },
      },
      ..."text" in reply
        ? [{
          type: "response.output_text.delta",
          item_id: item.id,
          output_index: at,
          content_index: 0,
          delta: reply.text,
        }]
        : [],
      { type: "response.output_item.done", output_index: at, item },
    ]);
    return [
      { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
      ...items,
      { type: "response.completed", response },
    ];
  },
};

/** Whether a user message is a result that the program itself tells the model. */
function tells(item: Json): boolean {
  return item.role === "user" && textOf(item.content).startsWith("<subagent_notification>");
}

function responsesItems(reply: PeerAnswer, id: string): Json[] {
  if ("text" in reply) {
    const content = [{ type: "output_text", text: reply.text, annotations: [] }];
    return [{ type: "message", id: `msg_${id}`, role: "assistant", status: "completed", content }];
  }
  return reply.calls.map((call, at) => ({
    type: "function_call",
    id: `fc_${id}_${at}`,
    call_id: `${id}_${at}`,
    name: call.name,
    ...(call.namespace === undefined ? {} : { namespace: call.namespace }),
    arguments: JSON.stringify(call.arguments),
    status: "completed",
  }));
}

function textOf(content: Json): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return content === undefined ? "" : JSON.stringify(content);
  return content.map((part) => typeof part === "string" ? part : part.text ?? "").join("\n");
}

async function bodyOf(request: IncomingMessage): Promise<Json> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk as Uint8Array);
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    return {};
  }
}

function sendJson(response: ServerResponse, body: Json, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
