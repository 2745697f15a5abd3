/**
 * Small questions to a server's own interfaces, each with a time limit.
 *
 * @module
 */
import { parseJson } from "./json.ts";

/** Options of {@linkcode askJson}. */
export interface AskJsonOptions {
  readonly fetch: typeof fetch;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Milliseconds until it is given up. */
  readonly timeoutMs: number;
  /** Sent as JSON by POST; absent: GET. */
  readonly body?: unknown;
}

/** What a server said. */
export interface JsonAnswer {
  readonly status: number;
  /** The body parsed, or `undefined` when it is no JSON. */
  readonly json: unknown;
}

/** Bytes of an answer that are read: lists of models are long at some providers. */
const MAX_BODY = 8 * 1024 * 1024;

/**
 * Asks for JSON. Never rejects: returns `undefined` when there was no answer in time, whatever the
 * reason.
 */
export async function askJson(
  url: string,
  options: AskJsonOptions,
): Promise<JsonAnswer | undefined> {
  const controller = new AbortController();
  const stop = () => controller.abort();
  const timer = setTimeout(stop, options.timeoutMs);
  options.signal?.addEventListener("abort", stop, { once: true });
  try {
    if (options.signal?.aborted === true) return undefined;
    const response = await options.fetch(url, {
      signal: controller.signal,
      // A redirect might take the key to another server.
      redirect: "manual",
      headers: { accept: "application/json", "user-agent": "mm", ...options.headers },
      ...(options.body === undefined ? {} : {
        method: "POST",
        body: JSON.stringify(options.body),
        headers: {
          accept: "application/json",
          "content-type": "application/json",
          "user-agent": "mm",
          ...options.headers,
        },
      }),
    });
    return { status: response.status, json: parseJson(await readText(response)) };
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", stop);
  }
}

async function readText(response: Response): Promise<string> {
  if (response.body === null) return "";
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for (;;) {
    const next = await reader.read();
    if (next.done) return text + decoder.decode();
    size += next.value.length;
    if (size > MAX_BODY) {
      await reader.cancel();
      return "";
    }
    text += decoder.decode(next.value, { stream: true });
  }
}
