import { test } from "node:test";
import assert from "node:assert/strict";
import { checkModel, type ModelTrait } from "./check_model.ts";
import { createModelClient } from "./client.ts";
import {
  delta,
  events,
  plain,
  QUICK,
  type RawHandler,
  type RawServer,
  startRawServer,
  STREAM_HEAD,
} from "./testing.ts";

const DONE = "data: [DONE]\n\n";
const CALL = delta({
  tool_calls: [{
    index: 0,
    id: "c1",
    function: { name: "report_ready", arguments: '{"word":"ready"}' },
  }],
});
const usage = (prompt: number, cached?: number) => ({
  choices: [],
  usage: {
    prompt_tokens: prompt,
    completion_tokens: 3,
    ...(cached === undefined ? {} : { prompt_tokens_details: { cached_tokens: cached } }),
  },
});
const words = ["one ", "two ", "three ", "four"].map((content) => delta({ content }));

async function check(handler: RawHandler, limitMs = 5000) {
  await using server = await startRawServer(handler);
  return { ...await checkServer(server, limitMs), chats: server.chats };
}

async function checkServer(server: RawServer, limitMs: number) {
  const client = createModelClient({
    config: { provider: "llamacpp", baseUrl: server.url, model: "m" },
    env: {},
    timing: QUICK,
    graceMs: 50,
  });
  const report = await checkModel(client, {
    signal: new AbortController().signal,
    limitMs,
    patienceMs: 200,
  });
  const traits = Object.fromEntries(report.traits.map((trait) => [trait.what, trait]));
  return { report, traits: traits as Record<ModelTrait["what"], ModelTrait> };
}

test("checkModel() sees a call, a stream, reasoning and a kept prefix, with two requests", async () => {
  const { traits, chats } = await check((socket, _, n) =>
    void socket.end(
      STREAM_HEAD + (n === 0
        ? events(delta({ reasoning_content: "hm" }), CALL, delta({}, "tool_calls"), usage(100))
        : events(...words, delta({}, "stop"), usage(130, 110))) +
        DONE,
    )
  );
  assert.equal(chats.length, 2);
  assert.equal(traits["tool calls"].ok, true);
  assert.equal(traits.streaming.ok, true);
  assert.match(traits.streaming.detail, /^4 pieces in /u);
  assert.equal(traits.reasoning.ok, true);
  assert.equal(traits["prompt cache"].ok, true);
  assert.match(
    traits["prompt cache"].detail,
    /^100 of the 100 tokens of the first request were kept/u,
  );
  const [first, second] = chats.map(({ body }) => body);
  assert(second?.startsWith(first?.slice(0, -2) ?? "?"), "the second begins with the first");
});

test("checkModel() guesses nothing that is not reported", async () => {
  const { traits } = await check((socket) =>
    void socket.end(plain(
      200,
      JSON.stringify({
        choices: [{ message: { content: "one two three" }, finish_reason: "stop" }],
        usage: { prompt_tokens: 90, completion_tokens: 4 },
      }),
    ))
  );
  for (const what of ["tool calls", "streaming", "reasoning", "prompt cache"] as const) {
    assert.equal(traits[what].ok, undefined, what);
  }
  assert.match(traits.streaming.detail, /one piece/u);
  assert.equal(traits["prompt cache"].detail, "not reported by the server");
});

test("checkModel() says that a server refuses tools, and checks the rest without them", async () => {
  const { traits, chats } = await check((socket, request) =>
    void socket.end(
      "tools" in JSON.parse(request.body)
        ? plain(400, '{"error":"m does not support tools"}')
        : STREAM_HEAD + events(...words, delta({}, "stop"), usage(100, 0)) + DONE,
    )
  );
  assert.equal(chats.length, 3);
  assert.equal(traits["tool calls"].ok, false);
  assert.match(traits["tool calls"].detail, /HTTP 400: m does not support tools/u);
  assert.equal(traits.streaming.ok, true);
  assert.equal(traits["prompt cache"].ok, undefined);
  assert.match(traits["prompt cache"].detail, /^0 of the 100 tokens.*keep long prompts only/u);
});

test("checkModel() is bounded: a second request that hangs leaves the rest unknown", async () => {
  const { traits } = await check((socket, _, n) => {
    if (n === 0) socket.end(STREAM_HEAD + events(CALL, delta({}, "stop")) + DONE);
  }, 300);
  assert.equal(traits["tool calls"].ok, true);
  assert.match(traits.streaming.detail, /second request failed: .*no whole answer within 300 ms/u);
});

test("checkModel() throws what is wrong when nothing is answered at all", async () => {
  for (const [status, words] of [[401, "no key"], [404, "no such model"]] as const) {
    await assert.rejects(
      check((socket) => void socket.end(plain(status, JSON.stringify({ error: words })))),
      new RegExp(`HTTP ${status}: ${words}`, "u"),
    );
  }
  await assert.rejects(check(() => {}, 200), /no whole answer within 200 ms/u);
});
