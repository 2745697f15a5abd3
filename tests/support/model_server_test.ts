import { test } from "node:test";
import assert from "node:assert/strict";
import OpenAI from "openai";
import { always, inOrder, onTool, onUser, startModelServer } from "./model_server.ts";

const question = (content: string) => ({
  model: "test-model",
  stream: true as const,
  messages: [{ role: "user" as const, content }],
});

async function streamed(url: string, body: ReturnType<typeof question>) {
  const client = new OpenAI({ baseURL: url, apiKey: "k", maxRetries: 0 });
  const chunks = [];
  for await (const chunk of await client.chat.completions.create(body)) chunks.push(chunk);
  return chunks;
}

const post = (url: string, body: unknown, signal?: AbortSignal) =>
  fetch(`${url}/chat/completions`, {
    method: "POST",
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });

test("the model server streams text, thought, calls and usage to a real client", async () => {
  await using server = await startModelServer({
    reply: [onUser("go", {
      reasoning: "let me see",
      text: "Hello there, you",
      toolCalls: [{ name: "ls", arguments: { path: "." } }, { name: "read", arguments: "{}" }],
      usage: { prompt_tokens: 5, completion_tokens: 7 },
    })],
  });
  const chunks = await streamed(server.url, question("go"));
  const deltas = chunks.flatMap((c) => c.choices.map((choice) => choice.delta));
  assert.equal(deltas.map((d) => d.content ?? "").join(""), "Hello there, you");
  const calls = deltas.flatMap((d) => d.tool_calls ?? []);
  assert.equal(
    calls.filter((c) => c.index === 0).map((c) => c.function?.arguments).join(""),
    '{"path":"."}',
  );
  assert.deepEqual([...new Set(calls.flatMap((c) => c.id ?? []))], ["call_1", "call_2"]);
  assert.equal(chunks.flatMap((c) => c.choices).at(-1)?.finish_reason, "tool_calls");
  assert.equal(chunks.at(-1)?.usage?.total_tokens, 12);
  const [request] = server.requests;
  assert.equal(request?.lastUser, "go");
  assert.equal(request?.headers.authorization, "Bearer k");
  assert.equal(await request?.done, "answered");
});

test("the model server answers probes as llama.cpp does, and records them", async () => {
  await using server = await startModelServer({
    models: ["a", "b"],
    window: 4096,
    route: ({ path }) => path === "/api/show" ? { body: { x: 1 } } : undefined,
  });
  const get = async (path: string) => (await fetch(new URL(path, server.url))).json();
  assert.deepEqual((await get("/v1/models")).data.map((m: { id: string }) => m.id), ["a", "b"]);
  assert.equal((await get("/props")).default_generation_settings.n_ctx, 4096);
  assert.deepEqual(await get("/health"), { status: "ok" });
  assert.deepEqual(await get("/api/show"), { x: 1 });
  assert.equal((await fetch(new URL("/else", server.url))).status, 404);
  assert.equal(server.probes.length, 5);
});

test("the model server holds an answer back until the test lets it go", async () => {
  const gate = Promise.withResolvers<void>();
  await using server = await startModelServer({
    reply: always({ chunks: ["a", "b", "c"], holdUntil: gate.promise, holdAfter: 1 }),
  });
  const response = await post(server.url, question("x"));
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let seen = "";
  while (!seen.includes('"a"')) seen += (await reader.read()).value ?? "";
  assert.ok(!seen.includes('"b"'));
  assert.equal(server.requests[0]?.state, "open");
  gate.resolve();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    seen += piece.value;
  }
  assert.match(seen, /"b"[\s\S]*"c"[\s\S]*\[DONE\]/u);
});

test("the model server notices a client that leaves", async () => {
  await using server = await startModelServer({
    reply: [onUser("early", { hang: true }), always({ text: "a b", hang: true, holdAfter: 1 })],
  });
  for (const text of ["early", "late"]) {
    const leave = new AbortController();
    const answer = post(server.url, question(text), leave.signal).then((r) => r.text());
    const request = await server.waitForRequest((r) => r.lastUser === text);
    leave.abort();
    await assert.rejects(answer);
    await request.aborted;
    assert.equal(await request.done, "aborted");
  }
});

test("the model server sends errors, raw bytes and cut streams", async () => {
  await using server = await startModelServer({
    reply: [
      onUser("error", { status: 503, headers: { "retry-after": "1" }, body: { error: "busy" } }),
      onUser("html", { raw: "<html>", headers: { "content-type": "text/html" } }),
      onUser("cut", { chunks: ["a", "b"], cutAfter: 1 }),
    ],
  });
  const error = await post(server.url, question("error"));
  assert.deepEqual([error.status, error.headers.get("retry-after")], [503, "1"]);
  await error.body?.cancel();
  assert.equal(await (await post(server.url, question("html"))).text(), "<html>");
  await assert.rejects(post(server.url, question("cut")).then((r) => r.text()));
});

test("the model server answers in order, after tools, and without a stream", async () => {
  await using server = await startModelServer({
    reply: [onTool("listing", { text: "done" }), inOrder({ text: "1" }, { text: "2" })],
  });
  const body = { model: "m", messages: [{ role: "user", content: "x" }] };
  const textOf = async (b: unknown) =>
    (await (await post(server.url, b)).json()).choices[0].message.content;
  assert.equal(await textOf(body), "1");
  assert.equal(await textOf(body), "2");
  const call = { id: "c", type: "function", function: { name: "ls", arguments: "{}" } };
  assert.equal(
    await textOf({
      model: "m",
      messages: [
        ...body.messages,
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: "c", content: "the listing" },
      ],
    }),
    "done",
  );
});

test("closing the model server throws when a request broke a rule", async () => {
  const server = await startModelServer({ reply: always({ text: "x" }), secrets: ["hunter22"] });
  await (await post(server.url, question("hunter22"))).text();
  await assert.rejects(server.close(), /request 1: the body holds a secret/u);
  const silent = await startModelServer();
  await (await post(silent.url, question("hello"))).text();
  await assert.rejects(silent.close(), /request 1: no rule of the script answers it/u);
});

test("waitForRequest() gives up after its time and says what came", async () => {
  await using server = await startModelServer({ reply: always({ text: "x" }) });
  await (await post(server.url, question("hello"))).text();
  await assert.rejects(
    server.waitForRequest((r) => r.lastUser === "other", { timeoutMs: 30 }),
    /Waited 30 ms in vain[\s\S]*1\. test-model, 1 messages, answered, last user: "hello"/u,
  );
});
