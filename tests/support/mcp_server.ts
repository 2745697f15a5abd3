/**
 * An MCP server for tests, written by hand and not with the SDK, so that it can misbehave. A program
 * of its own: `mcpServer()` gives the entry that starts it.
 *
 * @module
 */
import { appendFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** How a server behaves: `ok`, or in which way it does not. */
export type McpMode =
  | "ok"
  /** Prints a banner on stdout before it speaks. */
  | "banner"
  /** Says why on stderr and exits with 3 at once. */
  | "exit"
  /** Reads and never answers. */
  | "hang"
  /** Is ready only after a second and a half. */
  | "slow"
  /** Exits after the first call it answered. */
  | "die_after_call"
  /** Ignores the end of its input and SIGTERM. */
  | "stubborn";

/** An entry of `mcpServers` for this server. */
export interface McpEntry {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Options of {@linkcode mcpServer}. */
export interface McpServerOptions {
  readonly mode?: McpMode;
  /** A file to which the server appends a JSON line for its start and for each message. */
  readonly log?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Returns the entry that starts the server. */
export function mcpServer(options: McpServerOptions = {}): McpEntry {
  return {
    command: process.execPath,
    args: ["run", "-A", "--no-check", fileURLToPath(import.meta.url), options.mode ?? "ok"],
    env: { ...(options.log === undefined ? {} : { MCP_TEST_LOG: options.log }), ...options.env },
  };
}

/** A server over streamable HTTP, in this process. */
export interface HttpMcpServer {
  readonly url: string;
  /** The headers of each request. */
  readonly headers: IncomingMessage["headers"][];
  /** Methods of JSON-RPC and HTTP in order. */
  readonly seen: string[];
  /** From now on every request is answered with this status. */
  failWith(status: number): void;
  /** Forgets all sessions, as a server that was started again does. */
  forget(): void;
  close(): Promise<void>;
}

// deno-lint-ignore no-explicit-any -- read freely, as in any test
type Json = any;

interface Speaker {
  readonly mode: McpMode;
  readonly send: (message: Json) => void;
  /** Whether a tool was added while it ran. */
  extra: boolean;
}

const text = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
const empty = { type: "object" };

function toolsOf(speaker: Speaker): Json[] {
  return [
    { name: "echo", description: "Says it again", inputSchema: text },
    {
      name: "look",
      description: "Reads a note",
      inputSchema: { ...empty, $schema: "http://json-schema.org/draft-07/schema#" },
      annotations: { readOnlyHint: true },
    },
    { name: "fail", description: "Fails", inputSchema: empty },
    { name: "refuse", description: "Answers with an error", inputSchema: empty },
    { name: "rich", description: "Gives all kinds of content", inputSchema: empty },
    { name: "big", description: "Gives much text", inputSchema: empty },
    { name: "wait", description: "Reports progress and never ends", inputSchema: empty },
    { name: "die", description: "Exits in the middle of the call", inputSchema: empty },
    { name: "grow", description: "Adds a tool", inputSchema: empty },
    { name: "env", description: "Shows its environment", inputSchema: empty },
    { name: "näme with spaces/and.dots", description: "Is called strangely", inputSchema: empty },
    { description: "Has no name", inputSchema: empty },
    ...(speaker.extra ? [{ name: "added", description: "New", inputSchema: empty }] : []),
  ];
}

function resultOf(params: Json, speaker: Speaker): Json {
  switch (params.name) {
    case "echo":
      return { content: [{ type: "text", text: `ECHO ${params.arguments?.text}` }] };
    case "look":
      return { content: [{ type: "text", text: "the note" }] };
    case "fail":
      return { content: [{ type: "text", text: "no such thing" }], isError: true };
    case "rich":
      return {
        content: [
          { type: "text", text: "words" },
          { type: "image", mimeType: "image/png", data: "AAAA" },
          {
            type: "resource",
            resource: { uri: "file:///a", mimeType: "text/plain", text: "inside" },
          },
          { type: "resource", resource: { uri: "file:///b", mimeType: "x/y", blob: "AAAA" } },
          { type: "resource_link", uri: "file:///c", name: "see there" },
        ],
        structuredContent: { answer: 42 },
      };
    case "big":
      return { content: [{ type: "text", text: "line of text\n".repeat(10_000) }] };
    case "grow":
      speaker.extra = true;
      speaker.send({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
      return { content: [{ type: "text", text: "grown" }] };
    case "env":
      return {
        content: [{
          type: "text",
          text: JSON.stringify({ cwd: process.cwd(), env: process.env }),
        }],
      };
    default:
      return { content: [{ type: "text", text: "called" }] };
  }
}

function answer(message: Json, speaker: Speaker): void {
  const { id, method, params } = message;
  if (id === undefined || method === undefined) return;
  const reply = (result: Json) => speaker.send({ jsonrpc: "2.0", id, result });
  switch (method) {
    case "initialize":
      return reply({
        protocolVersion: params.protocolVersion,
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: "test-server", version: "1.0" },
      });
    case "ping":
      return reply({});
    case "tools/list": {
      // In two pages.
      const tools = toolsOf(speaker);
      return params?.cursor === "2"
        ? reply({ tools: tools.slice(5) })
        : reply({ tools: tools.slice(0, 5), nextCursor: "2" });
    }
    case "tools/call":
      if (params.name === "refuse") {
        return speaker.send({
          jsonrpc: "2.0",
          id,
          error: { code: -32602, message: "not like that" },
        });
      }
      if (params.name === "die") {
        process.stderr.write("out of memory\n");
        process.exit(4);
      }
      if (params.name === "wait") {
        const progressToken = params._meta?.progressToken;
        return speaker.send({
          jsonrpc: "2.0",
          method: "notifications/progress",
          params: { progressToken, progress: 1, total: 3, message: "a third is done" },
        });
      }
      reply(resultOf(params, speaker));
      if (speaker.mode === "die_after_call") setTimeout(() => process.exit(5), 20);
      return;
    default:
      return speaker.send({
        jsonrpc: "2.0",
        id,
        error: { code: -32601, message: "no such method" },
      });
  }
}

/** Runs the server on stdin and stdout. */
async function main(mode: McpMode): Promise<void> {
  const log = (entry: Json) => {
    const file = process.env["MCP_TEST_LOG"];
    if (file !== undefined) appendFileSync(file, `${JSON.stringify(entry)}\n`);
  };
  log({ start: process.pid, cwd: process.cwd() });
  if (mode === "exit") {
    process.stderr.write("no licence was found\n");
    process.exit(3);
  }
  if (mode === "banner") {
    process.stdout.write("Welcome to the test server!\n{not json}\n[1, 2]\n\n");
  }
  if (mode === "stubborn") {
    process.on("SIGTERM", () => {});
    setInterval(() => {}, 1000);
  }
  if (mode === "slow") await new Promise((resolve) => setTimeout(resolve, 1500));
  const speaker: Speaker = {
    mode,
    extra: false,
    send: (message) => void process.stdout.write(`${JSON.stringify(message)}\n`),
  };
  let rest = "";
  process.stdin.setEncoding("utf8");
  process.stdin.on("data", (piece: string) => {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const message = JSON.parse(line);
      log({ method: message.method, name: message.params?.name, params: message.params });
      if (mode !== "hang") answer(message, speaker);
    }
  });
  process.stdin.on("end", () => {
    log({ end: process.pid });
    if (mode !== "stubborn") process.exit(0);
  });
}

/** Starts a server over HTTP in this process. */
export async function startHttpMcp(): Promise<HttpMcpServer> {
  const headers: IncomingMessage["headers"][] = [];
  const seen: string[] = [];
  const sessions = new Set<string>();
  let status = 0;
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    headers.push(request.headers);
    let body = "";
    for await (const piece of request) body += piece;
    if (request.method !== "POST") seen.push(request.method ?? "");
    if (status !== 0) return void response.writeHead(status).end("it is broken");
    if (request.method === "GET") return void response.writeHead(405).end();
    if (request.method === "DELETE") return void response.writeHead(200).end();
    const message = JSON.parse(body);
    seen.push(message.method);
    const given = request.headers["mcp-session-id"];
    if (message.method !== "initialize" && !sessions.has(String(given))) {
      return void response.writeHead(404).end("no such session");
    }
    if (message.id === undefined) return void response.writeHead(202).end();
    const id = message.method === "initialize" ? crypto.randomUUID() : String(given);
    sessions.add(id);
    response.writeHead(200, { "content-type": "text/event-stream", "mcp-session-id": id });
    if (message.params?.name === "die") {
      response.write(": about to go\n\n");
      return void setTimeout(() => response.destroy(), 20);
    }
    answer(message, {
      mode: "ok",
      extra: false,
      send: (out) => void response.write(`event: message\ndata: ${JSON.stringify(out)}\n\n`),
    });
    if (message.params?.name !== "wait") response.end();
  };
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    headers,
    seen,
    failWith: (code) => status = code,
    forget: () => sessions.clear(),
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

if (import.meta.main) await main((process.argv[2] ?? "ok") as McpMode);
