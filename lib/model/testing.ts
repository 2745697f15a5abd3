/**
 * A model server for the tests of this folder: real sockets, exact bytes.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { createModelClient, type CreateModelClientOptions } from "./client.ts";
import type { ModelEvent, ModelReply, ModelRequest } from "./types.ts";

/** A request as the server received it. */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A running server. */
export interface RawServer extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** Chat completions that were asked for. */
  readonly chats: readonly RawRequest[];
  /** Every request. */
  readonly requests: readonly RawRequest[];
}

/** Answers one chat completion, the `n`th from 0, by writing to the socket. */
export type RawHandler = (socket: Socket, request: RawRequest, n: number) => void | Promise<void>;

/** Starts a server. `other` answers what is no chat completion; by default 404. */
export async function startRawServer(
  handler: RawHandler,
  other: (request: RawRequest) => { status: number; json: unknown } | undefined = () => undefined,
  port = 0,
): Promise<RawServer> {
  const chats: RawRequest[] = [];
  const requests: RawRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    let received = Buffer.alloc(0);
    socket.on("data", (bytes) => {
      received = Buffer.concat([received, bytes]);
      const end = received.indexOf("\r\n\r\n");
      if (end < 0) return;
      const [first, ...lines] = received.subarray(0, end).toString().split("\r\n");
      const headers = Object.fromEntries(lines.map((line) => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }));
      const length = Number(headers["content-length"] ?? 0);
      if (received.length < end + 4 + length) return;
      const body = received.subarray(end + 4, end + 4 + length).toString();
      received = received.subarray(end + 4 + length);
      const [method = "", path = ""] = (first ?? "").split(" ");
      const request = { method, path, headers, body };
      requests.push(request);
      if (path.endsWith("/chat/completions")) {
        chats.push(request);
        void handler(socket, request, chats.length - 1);
      } else {
        const { status, json } = other(request) ?? { status: 404, json: { error: "not here" } };
        socket.end(plain(status, JSON.stringify(json)));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const bound = (server.address() as AddressInfo).port;
  return {
    port: bound,
    url: `http://127.0.0.1:${bound}/v1`,
    chats,
    requests,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Returns a whole answer with a status. */
export function plain(status: number, body: string, headers: Record<string, string> = {}): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return `HTTP/1.1 ${status} X\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
    `content-type: application/json\r\nconnection: close\r\n${lines}\r\n${body}`;
}

/** The head of a streamed answer whose end is the end of the connection. */
export const STREAM_HEAD =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

/** Returns events of chunks; a text is written as it stands. */
export function events(...chunks: readonly unknown[]): string {
  return chunks.map((chunk) =>
    `data: ${typeof chunk === "string" ? chunk : JSON.stringify(chunk)}\n\n`
  ).join("");
}

/** Returns a chunk with a delta. */
export function delta(fields: unknown, finish: string | null = null): unknown {
  return { choices: [{ index: 0, delta: fields, finish_reason: finish }] };
}

/** Writes byte by byte, each in a packet of its own as far as the system allows. */
export async function writeBytes(socket: Socket, text: string): Promise<void> {
  for (const byte of Buffer.from(text)) {
    await new Promise<void>((resolve) => socket.write(Buffer.from([byte]), () => resolve()));
  }
}

/** What a request led to. */
export interface Outcome {
  readonly reply: ModelReply;
  readonly events: readonly ModelEvent[];
}

/** The numbers of the waits in tests. */
export const QUICK = { baseMs: 5, pollMs: 20, capMs: 20, slowMs: 20, random: () => 1 };

/** A tool as tests declare it. */
export function tool(name: string) {
  return { name, description: name, parameters: { type: "object", properties: {} } };
}

/** Asks a server one question. */
export async function askOnce(
  server: Pick<RawServer, "url">,
  options: {
    readonly request?: Partial<ModelRequest>;
    readonly client?: Partial<CreateModelClientOptions>;
    readonly patienceMs?: number;
    readonly signal?: AbortSignal;
    readonly onEvent?: (event: ModelEvent) => void;
  } = {},
): Promise<Outcome> {
  const seen: ModelEvent[] = [];
  const client = createModelClient({
    config: { provider: "custom", baseUrl: server.url, model: "m", apiKey: "secret-key-12345" },
    env: {},
    timing: QUICK,
    graceMs: 100,
    ...options.client,
  });
  const reply = await client.complete(
    {
      messages: [{ role: "user", text: "hello" }],
      tools: [tool("read"), tool("bash")],
      ...options.request,
    },
    {
      signal: options.signal ?? new AbortController().signal,
      patienceMs: options.patienceMs ?? 5000,
      onEvent: (event) => {
        seen.push(event);
        options.onEvent?.(event);
      },
    },
  );
  return { reply, events: seen };
}
