/**
 * One HTTP request to a model server, through the `openai` package.
 *
 * The package builds the request and sends it; mm reads the answer itself, keeps its own limits and
 * its own retries (the package's waits cannot be cancelled, and its stream loses what is not exactly
 * OpenAI's).
 *
 * @module
 */
import type OpenAI from "openai";
import type { Endpoint } from "./endpoint.ts";
import { type Failure, FailureError, statusFailure } from "./failure.ts";
import { connectionFailure } from "./failure.ts";
import type { WireBody } from "./wire.ts";

/** Sends requests to one server. */
export interface Transport {
  /** Loads the package, so that the first request does not have to. */
  warm(): Promise<void>;
  /**
   * Sends a chat completion and returns the answer once its headers are there.
   *
   * @throws {FailureError} when there was no connection, or the status is an error.
   * @throws the signal's reason when it was aborted.
   */
  send(body: WireBody, options: { readonly signal: AbortSignal }): Promise<Response>;
}

/** Marks which call a request belongs to; taken off before the request is sent. */
const CALL_HEADER = "x-mm-call";

/** The largest delay a timer takes: mm's own watchdog is the limit. */
const NO_TIMEOUT_MS = 2_147_483_647;

/** Bytes of an error answer that are read. */
const MAX_ERROR_BODY = 64 * 1024;

/** Creates the transport. Nothing is loaded or connected before the first use. */
export function createTransport(endpoint: Endpoint, fetchFn: typeof fetch): Transport {
  const failures = new Map<string, Failure>();
  let calls = 0;
  let loading: Promise<OpenAI> | undefined;

  return {
    async warm() {
      await client();
    },
    async send(body, { signal }) {
      const openai = await client();
      signal.throwIfAborted();
      const call = String(++calls);
      try {
        // The package's type is a closed list of OpenAI's own fields; mm's body has others' as well.
        const params = body as unknown as OpenAI.ChatCompletionCreateParamsStreaming;
        return await openai.chat.completions
          .create(params, { signal, headers: { [CALL_HEADER]: call } })
          .asResponse();
      } catch (cause) {
        signal.throwIfAborted();
        throw new FailureError(failures.get(call) ?? connectionFailure(cause));
      } finally {
        failures.delete(call);
      }
    },
  };

  function client(): Promise<OpenAI> {
    loading ??= load();
    return loading;
  }

  async function load(): Promise<OpenAI> {
    const { OpenAI } = await import("openai");
    return new OpenAI({
      baseURL: endpoint.baseUrl,
      // All given explicitly: what is absent the package takes from OPENAI_* variables, which are
      // meant for another server. The headers are mm's own in any case.
      apiKey: "unused",
      adminAPIKey: null,
      organization: null,
      project: null,
      webhookSecret: null,
      maxRetries: 0,
      timeout: NO_TIMEOUT_MS,
      logLevel: "off",
      dangerouslyAllowBrowser: true,
      fetch: exchange,
    });
  }

  async function exchange(
    input: string | URL | Request,
    init: RequestInit = {},
  ): Promise<Response> {
    const call = new Headers(init.headers).get(CALL_HEADER) ?? "";
    try {
      const response = await fetchFn(input, {
        ...init,
        // Not the package's own headers: they hold what OPENAI_CUSTOM_HEADERS says.
        headers: requestHeaders(endpoint),
        // A redirect would turn the request into another one, and take headers to another server.
        redirect: "manual",
      });
      if (response.ok) return response;
      failures.set(call, await failureOf(response));
    } catch (cause) {
      failures.set(call, connectionFailure(cause));
    }
    // The words do not matter: send() looks the failure up.
    throw new Error("no answer");
  }
}

/** Returns the headers of a request that carries JSON. */
function requestHeaders(endpoint: Endpoint): Headers {
  return new Headers({
    "accept": "application/json",
    "content-type": "application/json",
    "user-agent": "mm",
    ...endpoint.headers,
  });
}

async function failureOf(response: Response): Promise<Failure> {
  const text = await readSome(response);
  return statusFailure(response.status, response.headers, text);
}

async function readSome(response: Response): Promise<string> {
  if (response.body === null) return "";
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    while (text.length < MAX_ERROR_BODY) {
      const next = await reader.read();
      if (next.done) break;
      text += decoder.decode(next.value, { stream: true });
    }
  } catch {
    // What was read of it is all there is.
  } finally {
    void reader.cancel().catch(() => {});
  }
  return text;
}
