/**
 * A web server of a test: real HTTP on 127.0.0.1, with pages that are functions.
 *
 * @module
 */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

/** Answers a request. */
export type Page = (response: ServerResponse, request: IncomingMessage) => void;

/** A web server that runs. */
export interface WebServer {
  /** For example `http://127.0.0.1:1234`, without a slash at the end. */
  readonly url: string;
  /** The requests, in order. */
  readonly requests: { readonly path: string; readonly headers: IncomingHttpHeaders }[];
  close(): Promise<void>;
}

/** Starts a server; a path without a page is answered with 404. */
export async function startWebServer(pages: Readonly<Record<string, Page>>): Promise<WebServer> {
  const requests: WebServer["requests"] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    requests.push({ path, headers: request.headers });
    const page = pages[path];
    if (page !== undefined) return page(response, request);
    response.writeHead(404, { "content-type": "text/html" });
    response.end("<html><body><h1>Not here</h1></body></html>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** A page of a type with a body. */
export function page(type: string | undefined, body: string | Uint8Array): Page {
  return (response) => {
    if (type !== undefined) response.setHeader("content-type", type);
    response.end(body);
  };
}

/** A redirect. */
export function redirect(location: string, status = 302): Page {
  return (response) => response.writeHead(status, { location }).end("moved");
}
