/**
 * A server for HTTP and WebSockets, with the runtime's own means. Only Deno has both built in; Node
 * serves no WebSockets without a package of someone else's.
 *
 * @module
 */
import { messageOf, UserError } from "../base/errors.ts";

/** What a server is asked to do with one request. */
export interface HttpExchange {
  readonly request: Request;
  /**
   * Makes the request a WebSocket.
   *
   * @throws {TypeError} when the request asks for none.
   */
  upgrade(): { readonly socket: WebSocket; readonly response: Response };
}

/** Options of {@linkcode serveHttp}. */
export interface ServeHttpOptions {
  readonly hostname: string;
  /** 0 for any that is free. */
  readonly port: number;
  /** Closes the server and all its connections. */
  readonly signal: AbortSignal;
  readonly handle: (exchange: HttpExchange) => Promise<Response> | Response;
}

/** A server that listens. */
export interface HttpServer {
  readonly port: number;
  /** Settles when the server is closed. */
  readonly closed: Promise<void>;
}

/** What this file uses of Deno. */
type DenoServer = Pick<typeof Deno, "serve" | "upgradeWebSocket">;

/**
 * Begins to listen.
 *
 * @throws {UserError} on other runtimes than Deno, and when the address cannot be used.
 */
export function serveHttp(options: ServeHttpOptions): HttpServer {
  const { hostname, port, signal, handle } = options;
  const deno = (globalThis as { readonly Deno?: DenoServer }).Deno;
  if (deno === undefined) {
    throw new UserError("Cannot listen: only mm's own executable and Deno serve WebSockets");
  }
  const { serve, upgradeWebSocket } = deno;
  try {
    const server = serve(
      // Whoever listens says so itself, and where: stdout stays as it is.
      { hostname, port, signal, onListen: () => {}, onError: failed },
      (request) => handle({ request, upgrade: () => upgradeWebSocket(request) }),
    );
    return { port: server.addr.port, closed: server.finished };
  } catch (error) {
    throw new UserError(`Cannot listen on "${hostname}:${port}": ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** What went wrong inside is no business of whoever asked. */
function failed(): Response {
  return new Response("Internal error", { status: 500 });
}
