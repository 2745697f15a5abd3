/**
 * How a server is asked about itself.
 *
 * @module
 */
import type { Endpoint } from "./endpoint.ts";
import { askJson } from "./http_json.ts";
import { asObject, type JsonObject } from "./json.ts";

/** Options of the questions. */
export interface ProbeOptions {
  readonly fetch: typeof fetch;
  readonly signal?: AbortSignal;
  /** Milliseconds for each question. @default {2000} */
  readonly timeoutMs?: number;
}

/** Asks one question; `undefined` for no answer in time, an error status, or no JSON object. */
export type Ask = (url: string, body?: unknown) => Promise<JsonObject | undefined>;

const TIMEOUT_MS = 2000;

/** Creates what asks a server with its key. */
export function asker(
  endpoint: Endpoint,
  options: ProbeOptions & { readonly onAnswer?: () => void },
): Ask {
  return async (url, body) => {
    const answer = await askJson(url, {
      fetch: options.fetch,
      headers: endpoint.headers,
      timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
      ...(body === undefined ? {} : { body }),
    });
    // A server that still loads answers 503: that is no answer about its model.
    if (answer === undefined || answer.status >= 500) return undefined;
    options.onAnswer?.();
    return answer.status < 300 ? asObject(answer.json) : undefined;
  };
}
