/**
 * The agent for clients that come over a network: the protocol library's experimental transport, with
 * WebSockets and streamed HTTP at `/acp`. Each connection is served as one on stdin and stdout is, with
 * sessions of its own. Whoever has the token may do what the agent may do, so nobody else gets further
 * than the door.
 *
 * @module
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { ndJsonStream, type Stream } from "@agentclientprotocol/sdk";
import { AcpServer } from "@agentclientprotocol/sdk/experimental/server";
import { messageOf } from "../base/errors.ts";
import { type HttpExchange, type HttpServer, serveHttp } from "../platform/http_server.ts";
import { serveAcp, type ServeAcpOptions } from "./agent.ts";
import { MAX_MESSAGE_BYTES } from "./limits.ts";

/** Where clients connect. */
export const ENDPOINT = "/acp";

/** Options of {@linkcode listen}. */
export interface ListenOptions extends Omit<ServeAcpOptions, "streams" | "sessionsEnd"> {
  readonly hostname: string;
  /** 0 for any that is free. */
  readonly port: number;
  /** What a client has to know. */
  readonly token: string;
}

/** An agent that listens. */
export interface Listener extends Pick<HttpServer, "port"> {
  /** Settles when the server and all connections are closed. */
  readonly closed: Promise<void>;
}

/**
 * Begins to listen for clients, until `signal` is aborted.
 *
 * @throws {UserError} when the address cannot be used, or the runtime cannot listen.
 */
export function listen(options: ListenOptions): Listener {
  const { hostname, port, token, signal, log = () => {}, ...serving } = options;
  const connections = new Set<Promise<void>>();
  const connect = (stream: Stream) => {
    const closed = serveStream(stream, { ...serving, signal, log }).catch((error) =>
      log(`A connection failed: ${messageOf(error)}`)
    );
    connections.add(closed);
    void closed.finally(() => connections.delete(closed));
    return { closed };
  };
  const acp = new AcpServer({ agent: { connect } });
  const handle = ({ request, upgrade }: HttpExchange) => {
    const refusal = refusalOf(request, token);
    if (refusal !== undefined) return refusal;
    if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") {
      return acp.handleRequest(request);
    }
    const prepared = acp.prepareWebSocketUpgrade();
    try {
      const { socket, response } = upgrade();
      prepared.accept(socket);
      return response;
    } catch {
      prepared.reject();
      return new Response("This is no request for a WebSocket", { status: 400 });
    }
  };
  const onAbort = () => void acp.close();
  signal.addEventListener("abort", onAbort, { once: true });
  const server = serveHttp({ hostname, port, signal, handle });
  const closed = server.closed.then(async () => {
    signal.removeEventListener("abort", onAbort);
    await acp.close();
    await Promise.all(connections);
  });
  return { port: server.port, closed };
}

/**
 * Serves one connection whose messages come apart already. It is given a pair of byte streams all the
 * same: the order, the limits and the words for noise are then those that stdin and stdout have.
 */
async function serveStream(
  stream: Stream,
  options: Omit<ServeAcpOptions, "streams">,
): Promise<void> {
  const there = new TransformStream<Uint8Array>();
  const back = new TransformStream<Uint8Array>();
  const lines = ndJsonStream(there.writable, back.readable, { maxMessageBytes: MAX_MESSAGE_BYTES });
  // Messages that end, in whatever way, are the end of the agent's input.
  const received = stream.readable.pipeTo(lines.writable).catch(() => {})
    .then(() => there.writable.close()).catch(() => {});
  const sent = lines.readable.pipeTo(stream.writable).catch(() => {});
  try {
    await serveAcp({
      ...options,
      streams: { input: there.readable, output: back.writable },
      sessionsEnd: true,
    });
  } finally {
    await back.writable.close().catch(() => {});
    await there.readable.cancel().catch(() => {});
    await Promise.all([received, sent]);
  }
}

/** Returns the answer to a request that is not let in. */
function refusalOf(request: Request, token: string): Response | undefined {
  const url = new URL(request.url);
  if (url.pathname !== ENDPOINT) return new Response("Not found", { status: 404 });
  // A page that a browser has open could use a token that stands in an address it knows.
  const origin = request.headers.get("origin");
  if (origin !== null && !isOwnMachine(origin)) {
    return new Response("Pages of this origin may not connect", { status: 403 });
  }
  const given = givenToken(request.headers, url);
  if (given === undefined || !sameToken(given, token)) {
    return new Response("A valid token is needed", {
      status: 401,
      headers: { "www-authenticate": "Bearer" },
    });
  }
  if (Number(request.headers.get("content-length")) > MAX_MESSAGE_BYTES) {
    return new Response("The message is too large", { status: 413 });
  }
  return undefined;
}

/** The header counts; a browser's WebSocket has none, so there it stands in the address. */
function givenToken(headers: Headers, url: URL): string | undefined {
  const header = headers.get("authorization");
  if (header !== null) return /^Bearer +(\S+) *$/iu.exec(header)?.[1];
  return url.searchParams.get("token") ?? undefined;
}

/** Compares in a time that tells nothing about the token. */
function sameToken(given: string, token: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}

/** Whether a page comes from this machine. */
function isOwnMachine(origin: string): boolean {
  return URL.canParse(origin) && isLoopback(new URL(origin).hostname);
}

/** Whether a host name means this machine only. */
export function isLoopback(hostname: string): boolean {
  const name = hostname.replace(/^\[(.*)\]$/u, "$1").toLowerCase();
  return name === "localhost" || name === "::1" || /^127(?:\.\d{1,3}){3}$/u.test(name);
}
