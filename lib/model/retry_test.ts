import { test } from "node:test";
import assert from "node:assert/strict";
import { type Failure, statusFailure } from "./failure.ts";
import { nextWait, pause, RETRY_TIMING, type RetryState, ruleFor } from "./retry.ts";
import { retryAfter } from "./retry_after.ts";
import {
  askOnce,
  delta,
  events,
  plain,
  QUICK,
  type RawHandler,
  startRawServer,
  STREAM_HEAD,
} from "./testing.ts";
import type { ModelError } from "./types.ts";

const GOOD = STREAM_HEAD + events(delta({ content: "ok" }, "stop")) + "data: [DONE]\n\n";

/** Answers with each text in turn, then with a good answer. */
function inTurn(...texts: string[]): RawHandler {
  return (socket, _, n) => void socket.end(texts[n] ?? GOOD);
}

const state: RetryState = {
  attempts: 1,
  waitedMs: 0,
  patienceMs: 300_000,
  timing: { ...RETRY_TIMING, random: () => 1 },
};

const status = (code: number, body = "", headers = {}) =>
  statusFailure(code, new Headers(headers), body);

test("retryAfter() reads seconds, fractions, milliseconds and dates, and nothing else", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  const read = (headers: Record<string, string>) => retryAfter(new Headers(headers), now);
  assert.equal(read({ "retry-after": "2" }), 2000);
  assert.equal(read({ "retry-after": "0.5" }), 500);
  assert.equal(read({ "retry-after-ms": "750", "retry-after": "9" }), 750);
  assert.equal(read({ "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT" }), 30_000);
  assert.equal(read({ "retry-after": "Wed, 31 Dec 2025 00:00:00 GMT" }), 0);
  assert.equal(read({ "retry-after": "abc" }), undefined);
  assert.equal(read({ "retry-after": "-1" }), undefined);
  assert.equal(read({ "retry-after": "" }), undefined);
  assert.equal(read({}), undefined);
});

test("nextWait() does what the server says, up to 60 seconds", () => {
  assert.equal(nextWait(status(429, "", { "retry-after": "2" }), state), 2000);
  assert.equal(nextWait(status(529, "", { "retry-after": "90" }), state), 60_000);
  assert.equal(nextWait(status(503, "", { "retry-after": "abc" }), state), 500);
  // "Retry-After: 0" from a server that is overloaded must not become a loop without a pause.
  assert.equal(nextWait(status(429, "", { "retry-after": "0" }), state), 250);
});

test("nextWait() doubles with jitter up to its cap", () => {
  const waits = [1, 2, 3, 4, 9].map((attempts) => nextWait(status(429), { ...state, attempts }));
  assert.deepEqual(waits, [500, 1000, 2000, 4000, 30_000]);
  const low = { ...state, timing: { ...state.timing, random: () => 0 } };
  assert.equal(nextWait(status(500), low), 375);
});

test("nextWait() ends with patience, and after a few attempts where patience is not for it", () => {
  assert.equal(nextWait(status(429), { ...state, waitedMs: 300_000 }), undefined);
  assert.equal(nextWait(status(429), { ...state, waitedMs: 299_900 }), 100);
  assert.notEqual(nextWait(status(500), { ...state, attempts: 4 }), undefined);
  assert.equal(nextWait(status(500), { ...state, attempts: 5 }), undefined);
  assert.notEqual(nextWait(status(503, "Loading model"), { ...state, attempts: 50 }), undefined);
});

test("the table says for each status whether there is another attempt", () => {
  const retried = (code: number, body = "") => nextWait(status(code, body), state) !== undefined;
  for (const code of [408, 409, 425, 429, 500, 502, 503, 504, 529]) {
    assert(retried(code), `${code}`);
  }
  for (const code of [301, 400, 401, 402, 403, 404, 405, 413, 422, 501]) {
    assert(!retried(code), `${code}`);
  }
  assert(!retried(429, '{"error":{"code":"insufficient_quota","message":"You are out"}}'));
});

test("a window that is full is recognised in the words of many servers", () => {
  for (
    const [code, body] of [
      [
        400,
        '{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}',
      ],
      [
        400,
        '{"error":{"message":"This model\'s maximum context length is 128000 tokens. However, your messages resulted in 200000 tokens.","code":"context_length_exceeded"}}',
      ],
      [
        400,
        '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}',
      ],
      [
        400,
        '{"object":"error","message":"This model\'s maximum context length is 4096 tokens. However, you requested 5000 tokens","code":400}',
      ],
      [
        400,
        '{"error":"The number of tokens to keep from the initial prompt is greater than the context length."}',
      ],
      [500, '{"error":"Trying to keep the first 4225 tokens when context the overflows."}'],
      [
        400,
        '{"error":{"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}',
      ],
      [413, '{"error":{"message":"Please reduce the length of the messages or completion."}}'],
      [
        422,
        '{"message":"Prompt contains 40000 tokens, too large for model with 32768 maximum context length"}',
      ],
    ] as const
  ) {
    assert.equal(ruleFor(status(code, body)).kind, "context_exceeded", body);
  }
  for (
    const [code, body] of [
      [429, '{"error":{"message":"Request too large for gpt: limit 30000 tokens per min (TPM)"}}'],
      [400, '{"error":"temperature exceeds the maximum of 2"}'],
      [401, '{"error":"invalid key"}'],
      [500, '{"error":"out of memory"}'],
    ] as const
  ) {
    assert.notEqual(ruleFor(status(code, body)).kind, "context_exceeded", body);
  }
});

test("E22: a server that is too busy is asked again, and each wait is shown", async () => {
  await using server = await startRawServer(inTurn(
    plain(429, '{"error":"slow down"}', { "retry-after-ms": "30" }),
    plain(503, "busy", { "retry-after": "abc" }),
    plain(529, ""),
    plain(408, ""),
  ));
  const { reply, events: seen } = await askOnce(server);
  assert.equal(reply.message.text, "ok");
  assert.equal(server.chats.length, 5);
  const waits = seen.filter((event) => event.type === "waiting");
  assert.equal(waits.length, 4);
  assert.equal(waits[0]?.ms, 30);
  assert.match(waits[0]?.reason ?? "", /^the server at http:.*\/v1 answered HTTP 429: slow down$/u);
});

test("E22: a cancel during a wait returns at once", async () => {
  await using server = await startRawServer((socket) =>
    void socket.end(plain(429, "", { "retry-after": "60" }))
  );
  const controller = new AbortController();
  const began = performance.now();
  await assert.rejects(
    askOnce(server, {
      patienceMs: 300_000,
      signal: controller.signal,
      onEvent: (event) => {
        assert.equal(event.type === "waiting" && event.ms, 60_000);
        setTimeout(() => controller.abort(new Error("enough")), 5);
      },
    }),
    { message: "enough" },
  );
  assert(performance.now() - began < 2000);
  assert.equal(server.chats.length, 1);
});

test("pause() leaves no listener behind and throws the reason of a signal that was aborted", async () => {
  const controller = new AbortController();
  let listeners = 0;
  const { signal } = controller;
  const add = signal.addEventListener.bind(signal),
    remove = signal.removeEventListener.bind(signal);
  signal.addEventListener =
    ((...args: Parameters<typeof add>) => (listeners++, add(...args))) as typeof add;
  signal.removeEventListener =
    ((...args: Parameters<typeof remove>) => (listeners--, remove(...args))) as typeof remove;
  await pause(1, signal);
  assert.equal(listeners, 0);
  controller.abort(new Error("over"));
  await assert.rejects(pause(60_000, signal), { message: "over" });
});

test("E23: a server that loads is waited for, as often as patience allows", async () => {
  const loading = plain(
    503,
    '{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}',
  );
  await using server = await startRawServer(inTurn(...Array.from({ length: 12 }, () => loading)));
  const { reply, events: seen } = await askOnce(server);
  assert.equal(reply.message.text, "ok");
  assert.equal(seen.filter((event) => event.type === "waiting").length, 12);
});

test("E23: a server that is not up yet is waited for", async () => {
  const first = await startRawServer(inTurn());
  const { port, url } = first;
  await first[Symbol.asyncDispose]();
  let late: Awaited<ReturnType<typeof startRawServer>> | undefined;
  try {
    const { reply } = await askOnce({ url }, {
      onEvent: (event) => {
        if (event.type !== "waiting" || late !== undefined) return;
        assert.match(event.reason, /cannot be reached: connection refused$/u);
        void startRawServer(inTurn(), undefined, port).then((server) => late = server);
      },
    });
    assert.equal(reply.message.text, "ok");
  } finally {
    await late?.[Symbol.asyncDispose]();
  }
});

test("E23: a server that never comes up is an error that says where and what to do", async () => {
  const server = await startRawServer(inTurn());
  await server[Symbol.asyncDispose]();
  await assert.rejects(askOnce(server, { patienceMs: 60 }), (error: ModelError) => {
    assert.equal(error.kind, "unreachable");
    assert.match(
      error.message,
      /connection refused \(\d+ attempts in .*\); start the server, or set/u,
    );
    return true;
  });
});

test("E24: a request that is wrong is an error with model, URL and the server's words, at once", async () => {
  for (
    const [code, body, words] of [
      [400, `{"error":"model 'x' not found"}`, "model 'x' not found"],
      [
        404,
        '{"error":{"message":"The model `x` does not exist","type":"not_found"}}',
        "The model `x` does not exist",
      ],
      [
        401,
        '{"error":{"message":"Incorrect API key provided: secret-key-12345"}}',
        "Incorrect API key provided: [secret]",
      ],
      [403, "forbidden by policy", "forbidden by policy"],
      [
        422,
        '{"detail":[{"loc":["body","messages",0],"msg":"Field required"}]}',
        "body.messages.0: Field required",
      ],
      [400, '[{"error":{"code":400,"message":"API key not valid"}}]', "API key not valid"],
      [400, "<html><head><title>400 Bad Request</title></head></html>", "400 Bad Request"],
      [400, "", "no reason was given"],
    ] as const
  ) {
    await using server = await startRawServer((socket) => void socket.end(plain(code, body)));
    await assert.rejects(askOnce(server), (error: ModelError) => {
      assert.equal(error.kind, "server");
      assert.equal(error.status, code);
      assert(error.message.includes(`HTTP ${code}: ${words}`), error.message);
      assert(error.message.includes(`"m" at ${server.url}/chat/completions`), error.message);
      const everything = `${error.message} ${error.stack} ${JSON.stringify(error)} ${error.cause}`;
      assert(!everything.includes("secret-key-12345"), everything);
      return true;
    });
    assert.equal(server.chats.length, 1);
  }
});

test("a model that the server does not have is answered with the nearest ones it has", async () => {
  await using server = await startRawServer(
    (socket) => void socket.end(plain(404, '{"error":"model \\"qwen4\\" not found"}')),
    () => ({ status: 200, json: { data: [{ id: "llama3" }, { id: "qwen3" }] } }),
  );
  const config = { provider: "custom", baseUrl: server.url, model: "qwen4" } as const;
  await assert.rejects(askOnce(server, { client: { config } }), {
    message: /; this server has "qwen3", "llama3"$/u,
  });
});

test("a redirect is not followed and named", async () => {
  await using server = await startRawServer((socket) =>
    void socket.end(plain(308, "", { location: "https://elsewhere.example/v1" }))
  );
  await assert.rejects(askOnce(server), { message: /redirects to "https:\/\/elsewhere/u });
});

test("a server that refuses stream_options is asked once more without, and never with again", async () => {
  await using server = await startRawServer((socket, request) =>
    void socket.end(
      request.body.includes("stream_options")
        ? plain(400, '{"error":{"message":"Unknown field: stream_options"}}')
        : GOOD,
    )
  );
  const { reply, events: seen } = await askOnce(server);
  assert.equal(reply.message.text, "ok");
  assert.equal(server.chats.length, 2);
  assert.equal(seen.filter((event) => event.type === "waiting").length, 0);
});

test("a failure of another kind after a few attempts names how many there were", async () => {
  await using server = await startRawServer((socket) => void socket.end(plain(500, "kaput")));
  await assert.rejects(
    askOnce(server, { client: { timing: { ...QUICK, few: 2 } } }),
    { message: /HTTP 500: kaput \(3 attempts in / },
  );
  assert.equal(server.chats.length, 3);
});

test("an error inside an answer with a status that passes is asked again if nothing was shown", async () => {
  await using server = await startRawServer((socket, _, n) =>
    void socket.end(
      n === 0 ? STREAM_HEAD + events({ error: { code: 502, message: "upstream" } }) : GOOD,
    )
  );
  assert.equal((await askOnce(server)).reply.message.text, "ok");
  const failure: Failure = { condition: "error_inside", words: { text: "x" } };
  assert.equal(ruleFor(failure).retry, "never");
});
