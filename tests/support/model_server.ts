/**
 * A scripted model server: real HTTP on 127.0.0.1, the OpenAI chat API, every request recorded and
 * checked.
 *
 * Closing it throws when any request broke a rule of `request_checks.ts`, so that every scenario of
 * every test checks them without naming them.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { bounded, DEFAULT_WAIT_MS } from "./bounded.ts";
import { type Reply, writeBody, writeReply } from "./model_reply.ts";
import { checkRequests } from "./request_checks.ts";
import { textOfMessage, type WireBody, type WireMessage } from "./wire.ts";

export type { Reply, ReplyCall } from "./model_reply.ts";

/** A request for a completion. */
export interface RecordedRequest {
  /** Counted from 1, as violations name it. */
  readonly number: number;
  readonly body: WireBody;
  /** The body as it came. */
  readonly raw: string;
  readonly bytes: Uint8Array;
  readonly headers: IncomingHttpHeaders;
  /** Milliseconds on a monotonic clock. */
  readonly at: number;
  readonly messages: readonly WireMessage[];
  readonly model: string;
  /** The system message's text; empty where there is none. */
  readonly system: string;
  /** The text of the last message with the role `user`. */
  readonly lastUser: string;
  /** The last message and its text. */
  readonly last: { readonly role: string; readonly text: string };
  readonly toolNames: readonly string[];
  /** Settles when the client left before the whole answer was written; else never. */
  readonly aborted: Promise<void>;
  /** Settles when the request is over. */
  readonly done: Promise<"answered" | "aborted">;
  /** What `done` settled with, so far. */
  readonly state: "open" | "answered" | "aborted";
}

/** Another request: probes such as `/props` and `/v1/models`. */
export interface RecordedProbe {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Answers a request, or leaves it to the next rule. */
export type Rule = (request: RecordedRequest) => Reply | undefined;

/** Options of {@linkcode startModelServer}. */
export interface ModelServerOptions {
  /** The script; the first rule that answers counts. A request without an answer is a violation. */
  readonly reply?: Rule | readonly Rule[];
  /** @default {["test-model"]} */
  readonly models?: readonly string[];
  /** Tokens of the window, as llama.cpp's `/props` tells it. @default {32768} */
  readonly window?: number;
  /** llama.cpp's slots. @default {4} */
  readonly slots?: number;
  /** Answers other paths, and `/health`, `/props`, `/v1/models` in another way. */
  readonly route?: (probe: RecordedProbe) => Reply | undefined;
  /** Texts that must occur in no request. */
  readonly secrets?: readonly string[];
  /** The port. @default {0, a free one} */
  readonly port?: number;
}

interface MutableRequest extends RecordedRequest {
  state: "open" | "answered" | "aborted";
  newPrefix: boolean;
}

interface Waiter {
  readonly matches: (request: RecordedRequest) => boolean;
  readonly found: (request: RecordedRequest) => void;
}

/** A model server that runs. */
export class ModelServer implements AsyncDisposable {
  /** The requests for completions, in order. */
  readonly requests: RecordedRequest[] = [];
  readonly probes: RecordedProbe[] = [];
  /** The most requests that were open at the same time. */
  maxOpen = 0;
  readonly #server: Server;
  readonly #options: ModelServerOptions;
  readonly #rules: readonly Rule[];
  readonly #unmatched: number[] = [];
  readonly #closing = new AbortController();
  #waiters: Waiter[] = [];
  #open = 0;
  #calls = 0;
  #newPrefixes = 0;
  #closed = false;

  /** Use {@linkcode startModelServer}. */
  constructor(options: ModelServerOptions) {
    this.#options = options;
    const { reply = [] } = options;
    this.#rules = typeof reply === "function" ? [reply] : reply;
    this.#server = createServer((request, response) => void this.#handle(request, response));
  }

  /** Starts to listen. */
  async listen(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once("error", reject);
    this.#server.listen(this.#options.port ?? 0, "127.0.0.1", resolve);
    await promise;
    this.#server.off("error", reject);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The address as a client's `baseUrl`: `http://127.0.0.1:<port>/v1`. */
  get url(): string {
    return `http://127.0.0.1:${this.port}/v1`;
  }

  /**
   * Waits for a request that matches, one that already came included.
   *
   * @throws {Error} after `timeoutMs`, with the requests that came.
   */
  waitForRequest(
    matches: (request: RecordedRequest) => boolean,
    options: { readonly timeoutMs?: number } = {},
  ): Promise<RecordedRequest> {
    const known = this.requests.find(matches);
    if (known !== undefined) return Promise.resolve(known);
    const { promise, resolve } = Promise.withResolvers<RecordedRequest>();
    this.#waiters.push({ matches, found: resolve });
    return bounded(
      promise,
      options.timeoutMs ?? DEFAULT_WAIT_MS,
      () => `No such request came; ${this.requests.length} came:\n${this.summary()}`,
    );
  }

  /** Announces that the next `count` requests may begin with something new: a compaction, a resume. */
  allowNewPrefix(count = 1): void {
    this.#newPrefixes += count;
  }

  /** One line for each request: model, number of messages, the last message. */
  summary(): string {
    return this.requests
      .map((r) =>
        `  ${r.number}. ${r.model}, ${r.messages.length} messages, ${r.state}, last ` +
        `${r.last.role}: ${JSON.stringify(r.last.text.slice(0, 120))}`
      )
      .join("\n");
  }

  /** The rules broken so far, one line each. */
  violations(): string[] {
    const secrets = this.#options.secrets;
    return [
      ...checkRequests(this.requests, secrets === undefined ? {} : { secrets }),
      ...this.#unmatched.map((number) => `request ${number}: no rule of the script answers it`),
    ];
  }

  /**
   * Stops the server and every answer it still holds back.
   *
   * @throws {Error} when a request broke a rule.
   */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#closing.abort(new Error("The model server closes"));
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    this.#server.closeAllConnections();
    await promise;
    const violations = this.violations();
    if (violations.length > 0) {
      throw new Error(
        `${violations.length} violations in what the model was sent:\n` +
          violations.map((v) => `  ${v}`).join("\n") + `\nThe requests:\n${this.summary()}`,
      );
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const left = new AbortController();
    response.on("close", () => left.abort(new Error("The client left")));
    response.on("error", () => left.abort(new Error("The client left")));
    try {
      const bytes = await readAll(request);
      const path = request.url ?? "/";
      if (request.method === "POST" && /\/chat\/completions$/u.test(path)) {
        await this.#complete(request, response, bytes, left.signal);
      } else {
        this.#probe(request, response, bytes);
      }
    } catch {
      // The client left, or the server closes: nobody is there to be told.
      response.destroy();
    }
  }

  async #complete(
    request: IncomingMessage,
    response: ServerResponse,
    bytes: Uint8Array,
    left: AbortSignal,
  ): Promise<void> {
    const done = Promise.withResolvers<"answered" | "aborted">();
    const aborted = Promise.withResolvers<void>();
    const record = recordOf(request, bytes, {
      number: this.requests.length + 1,
      newPrefix: this.#newPrefixes > 0,
      aborted: aborted.promise,
      done: done.promise,
    });
    if (this.#newPrefixes > 0) this.#newPrefixes--;
    this.requests.push(record);
    this.#open++;
    this.maxOpen = Math.max(this.maxOpen, this.#open);
    this.#tellWaiters(record);
    const end = (state: "answered" | "aborted") => {
      if (record.state !== "open") return;
      record.state = state;
      this.#open--;
      if (state === "aborted") aborted.resolve();
      done.resolve(state);
    };
    try {
      const reply = this.#replyTo(record);
      await writeReply(reply, {
        response,
        model: record.model,
        stream: record.body.stream === true,
        requestBytes: bytes.length,
        signal: AbortSignal.any([left, this.#closing.signal]),
        nextCallId: () => `call_${++this.#calls}`,
      });
      end("answered");
    } finally {
      end("aborted");
    }
  }

  #replyTo(record: RecordedRequest): Reply {
    for (const rule of this.#rules) {
      const reply = rule(record);
      if (reply !== undefined) return reply;
    }
    this.#unmatched.push(record.number);
    return {
      status: 400,
      body: { error: { message: "No rule of the test's script answers this" } },
    };
  }

  #tellWaiters(record: RecordedRequest): void {
    this.#waiters = this.#waiters.filter((waiter) => {
      if (!waiter.matches(record)) return true;
      waiter.found(record);
      return false;
    });
  }

  #probe(request: IncomingMessage, response: ServerResponse, bytes: Uint8Array): void {
    const probe: RecordedProbe = {
      method: request.method ?? "GET",
      path: request.url ?? "/",
      headers: request.headers,
      body: Buffer.from(bytes).toString("utf8"),
    };
    this.probes.push(probe);
    const reply = this.#options.route?.(probe) ?? this.#standardProbe(probe);
    if (reply.hang !== true) writeBody(reply, response);
  }

  #standardProbe({ method, path }: RecordedProbe): Reply {
    const models = this.#options.models ?? ["test-model"];
    if (method === "GET" && path === "/v1/models") {
      const data = models.map((id) => ({ id, object: "model", created: 1, owned_by: "test" }));
      return { body: { object: "list", data } };
    }
    if (method === "GET" && path === "/health") return { body: { status: "ok" } };
    if (method === "GET" && path === "/props") {
      return {
        body: {
          default_generation_settings: { n_ctx: this.#options.window ?? 32768 },
          total_slots: this.#options.slots ?? 4,
          model_path: models[0],
        },
      };
    }
    return { status: 404, body: { error: { message: `No such path: ${path}` } } };
  }
}

/**
 * Starts a model server on a free port of 127.0.0.1.
 *
 * @example
 * ```ts
 * await using server = await startModelServer({ reply: [onUser("hello", { text: "Hi" })] });
 * ```
 */
export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const server = new ModelServer(options);
  await server.listen();
  return server;
}

/** A reply, or a function that makes it from the request. */
export type ReplySource = Reply | ((request: RecordedRequest) => Reply);

/** Answers requests that end with a user message which contains (or matches) `what`. */
export function onUser(what: string | RegExp, reply: ReplySource): Rule {
  return onLast("user", what, reply);
}

/** Answers requests that end with a tool result which contains (or matches) `what`. */
export function onTool(what: string | RegExp, reply: ReplySource): Rule {
  return onLast("tool", what, reply);
}

/** Limits rules to requests for one model: several agents can share a server. */
export function forModel(model: string, ...rules: readonly Rule[]): Rule {
  return (request) => {
    if (request.model !== model) return undefined;
    for (const rule of rules) {
      const reply = rule(request);
      if (reply !== undefined) return reply;
    }
    return undefined;
  };
}

/** Answers with the replies in order, whatever the request; then leaves it to the next rule. */
export function inOrder(...replies: readonly ReplySource[]): Rule {
  let next = 0;
  return (request) => {
    const reply = replies[next++];
    return typeof reply === "function" ? reply(request) : reply;
  };
}

/** Answers everything. */
export function always(reply: ReplySource): Rule {
  return (request) => typeof reply === "function" ? reply(request) : reply;
}

function onLast(role: string, what: string | RegExp, reply: ReplySource): Rule {
  return (request) => {
    const { last } = request;
    const matches = typeof what === "string" ? last.text.includes(what) : what.test(last.text);
    if (last.role !== role || !matches) return undefined;
    return typeof reply === "function" ? reply(request) : reply;
  };
}

function recordOf(
  request: IncomingMessage,
  bytes: Uint8Array,
  more: Pick<MutableRequest, "number" | "newPrefix" | "aborted" | "done">,
): MutableRequest {
  const raw = Buffer.from(bytes).toString("utf8");
  const body = parseOr(raw, {});
  const messages = Array.isArray(body.messages) ? body.messages : [];
  const last = messages.at(-1);
  return {
    ...more,
    body,
    raw,
    bytes,
    headers: request.headers,
    at: performance.now(),
    messages,
    model: body.model ?? "",
    system: textOfMessage(messages.find((m) => m.role === "system")),
    lastUser: textOfMessage(messages.findLast((m) => m.role === "user")),
    last: { role: last?.role ?? "", text: textOfMessage(last) },
    toolNames: (body.tools ?? []).map((tool) => tool.function.name),
    state: "open",
  };
}

/** A body that is no JSON is a violation later, not a crash of the server now. */
function parseOr(raw: string, otherwise: WireBody): WireBody {
  try {
    return JSON.parse(raw) as WireBody;
  } catch {
    return otherwise;
  }
}

async function readAll(request: IncomingMessage): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks);
}
