/**
 * MCP over streamable HTTP, with the SDK's transport. What it leaves open is closed here: a stream
 * that breaks off before the answer would let the call wait for its whole time.
 *
 * @module
 */
// The package's wildcard export gives types only without the extension, and code only with it.
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { FetchLike } from "@modelcontextprotocol/sdk/shared/transport";
import type { McpUrlConfig } from "../config/types.ts";

/** Bytes the body of one answer may have, a stream of the server's own messages excepted. */
const MAX_BODY_BYTES = 32 * 1024 * 1024;

/** How often a stream that can be resumed is resumed. */
const MAX_RESUMES = 2;

/** JSON-RPC's code for a connection that was lost, as the SDK uses it. */
const CONNECTION_CLOSED = -32000;

type RequestId = string | number;

/** Opens a transport to a server; nothing is sent yet. */
export function httpTransport(config: McpUrlConfig): StreamableHTTPClientTransport {
  /** Requests without an answer. */
  const open = new Set<RequestId>();

  const lose = (ids: Iterable<RequestId>) => {
    for (const id of [...ids]) {
      if (!open.delete(id)) continue;
      const message = "the connection was lost before the answer came";
      transport.onmessage?.({ jsonrpc: "2.0", id, error: { code: CONNECTION_CLOSED, message } });
    }
  };

  const watchedFetch: FetchLike = async (url, init) => {
    const id = requestId(init);
    if (id !== undefined) open.add(id);
    let response: Response;
    try {
      response = await fetch(url, init);
    } catch (error) {
      if (id !== undefined) open.delete(id);
      throw error;
    }
    if (id === undefined || response.body === null) return response;
    return new Response(
      watched(response.body, (resumable) => {
        // The answer, had it come, was taken before the end of the body.
        if (!resumable) setTimeout(() => lose([id]), 0);
      }),
      response,
    );
  };

  const transport = new StreamableHTTPClientTransport(new URL(config.url), {
    fetch: watchedFetch,
    requestInit: { headers: { ...config.headers } },
    reconnectionOptions: {
      initialReconnectionDelay: 500,
      maxReconnectionDelay: 5000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: MAX_RESUMES,
    },
  });
  // The client calls what stands here before it takes the message itself.
  transport.onmessage = (message) => {
    if ("id" in message && !("method" in message) && message.id !== undefined) {
      open.delete(message.id);
    }
  };
  transport.onerror = (error) => {
    if (/^Maximum reconnection attempts/u.test(error.message)) lose(open);
  };
  return transport;
}

function requestId(init: RequestInit | undefined): RequestId | undefined {
  if (init?.method !== "POST" || typeof init.body !== "string") return undefined;
  const message = JSON.parse(init.body) as { readonly id?: RequestId; readonly method?: string };
  return message.method === undefined ? undefined : message.id;
}

/** Passes a body on; tells when it is over and whether its events had ids to go on from. */
function watched(
  body: ReadableStream<Uint8Array>,
  onEnd: (resumable: boolean) => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let resumable = false;
  let tail = "\n";
  let bytes = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done } = await reader.read();
        if (done) {
          controller.close();
          return onEnd(resumable);
        }
        bytes += value.length;
        if (bytes > MAX_BODY_BYTES) {
          throw new Error(`the answer is larger than ${MAX_BODY_BYTES} bytes`);
        }
        tail += decoder.decode(value, { stream: true });
        resumable ||= /[\r\n]id:/u.test(tail);
        tail = tail.slice(-4);
        controller.enqueue(value);
      } catch (error) {
        reader.cancel().catch(() => {});
        controller.error(error);
        onEnd(resumable);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
}
