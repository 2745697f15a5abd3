import { test } from "node:test";
import assert from "node:assert/strict";
import type { ModelConfig, ProviderName } from "../config/types.ts";
import { createModelClient } from "./client.ts";
import { createLazyModelClient } from "./discovering_client.ts";
import { delta, events, type RawServer, startRawServer, STREAM_HEAD, tool } from "./testing.ts";
import type { Message, ModelClient, ModelReply } from "./types.ts";

/** A server with two models, one of which takes images, that answers `answer` to everything. */
function twoModels(answer: unknown = { content: "ok" }): Promise<RawServer> {
  const list = {
    data: [
      { id: "eyes", max_model_len: 1000, architecture: { input_modalities: ["text", "image"] } },
      { id: "blind", max_model_len: 2000, architecture: { input_modalities: ["text"] } },
      { id: "embed-small" },
    ],
  };
  return startRawServer(
    (socket) => void socket.end(STREAM_HEAD + events(delta(answer, "stop")) + "data: [DONE]\n\n"),
    ({ path }) => path === "/v1/models" ? { status: 200, json: list } : undefined,
  );
}

function clientFor(
  server: RawServer,
  config: ModelConfig = {},
  provider: ProviderName = "vllm",
): ModelClient {
  return createModelClient({ config: { provider, baseUrl: server.url, ...config }, env: {} });
}

function ask(
  client: ModelClient,
  messages: readonly Message[] = [{ role: "user", text: "hi" }],
): Promise<ModelReply> {
  return client.complete({ messages, tools: [tool("read")] }, {
    signal: new AbortController().signal,
    patienceMs: 5000,
    onEvent: () => {},
  });
}

const lastBody = (server: RawServer) => JSON.parse(server.chats.at(-1)?.body ?? "{}");

test("models() lists what can answer, and with() asks another one under its own window", async () => {
  await using server = await twoModels();
  const client = clientFor(server, { model: "eyes", contextWindow: 900, reasoning: "low" });
  assert.deepEqual(await client.models({}), ["eyes", "blind"]);
  assert.deepEqual(client.settings, { model: "eyes", reasoning: "low" });

  const other = client.with({ model: "blind" });
  assert.equal(other.label, "vllm/blind");
  assert.deepEqual(await other.facts({}), { contextWindow: 2000, images: false });
  await ask(other);
  assert.equal(lastBody(server).model, "blind");
  assert.equal("reasoning_effort" in lastBody(server), false);

  const same = client.with({ ...client.settings, reasoning: "high" });
  assert.equal((await same.facts({})).contextWindow, 900, "what was configured for it still holds");
  await ask(same);
  assert.equal(lastBody(server).reasoning_effort, "high");
});

test("models() says nothing where the server does not", async () => {
  await using server = await startRawServer(() => {});
  assert.equal(await clientFor(server, { model: "m" }).models({}), undefined);
});

test("efforts can be chosen where the provider has them, or one is configured", async () => {
  await using server = await twoModels();
  assert.deepEqual(clientFor(server).efforts, []);
  assert.equal(clientFor(server, { reasoning: "low" }).efforts.length, 5);
  assert.deepEqual(clientFor(server, {}, "groq").efforts, ["low", "medium", "high"]);
});

test("images are sent as data URLs, and named where the model takes none", async () => {
  await using server = await twoModels();
  const messages: Message[] = [
    { role: "user", text: "What is it?", images: [{ mimeType: "image/png", data: "aGk=" }] },
  ];
  const client = clientFor(server, { model: "eyes" });
  assert.equal((await client.facts({})).images, true);
  await ask(client, messages);
  assert.deepEqual(lastBody(server).messages[0].content, [
    { type: "text", text: "What is it?" },
    { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } },
  ]);
  const blind = client.with({ model: "blind" });
  await blind.facts({});
  await ask(blind, messages);
  assert.equal(
    lastBody(server).messages[0].content,
    "What is it?\n[an image (image/png) is not shown here]",
  );
});

test("whether a model takes images is what is configured, what is told, what the provider has", async () => {
  await using server = await twoModels();
  const imagesOf = async (config: ModelConfig, provider: ProviderName = "vllm") =>
    (await clientFor(server, config, provider).facts({})).images;
  assert.equal(await imagesOf({ model: "eyes" }), true);
  assert.equal(await imagesOf({ model: "eyes", images: false }), false);
  assert.equal(await imagesOf({ model: "blind", images: true }), true);
  assert.equal(await imagesOf({ model: "other" }), undefined);
  assert.equal(await imagesOf({ apiKey: "k" }, "openai"), true);
  assert.equal(await imagesOf({ apiKey: "k" }, "deepseek"), undefined);
});

test("textCalls and sendReasoning are what is configured, else what the provider needs", async () => {
  const content = '<tool_call>{"name": "read", "arguments": {}}</tool_call>';
  await using server = await twoModels({ content });
  const history: Message[] = [
    { role: "user", text: "q" },
    { role: "assistant", text: "a", reasoning: "because" },
    { role: "user", text: "r" },
  ];
  for (
    const { config, provider, calls, sent } of [
      { config: {}, provider: "vllm", calls: 1, sent: undefined },
      { config: {}, provider: "llamacpp", calls: 1, sent: "because" },
      { config: {}, provider: "groq", calls: 0, sent: undefined },
      {
        config: { textCalls: false, sendReasoning: true },
        provider: "vllm",
        calls: 0,
        sent: "because",
      },
      {
        config: { textCalls: true, sendReasoning: false },
        provider: "llamacpp",
        calls: 1,
        sent: undefined,
      },
    ] as const
  ) {
    const client = clientFor(server, { model: "eyes", ...config }, provider);
    const { message } = await ask(client, history);
    assert.equal(message.toolCalls?.length ?? 0, calls, provider);
    assert.equal(message.text, calls === 1 ? "" : content);
    assert.equal(lastBody(server).messages[1].reasoning_content, sent);
  }
});

test("a model that is chosen before any server was found is asked for at the one that is found", async () => {
  await using server = await twoModels();
  // Where the server is found is not the subject: every usual place leads to it.
  const redirected: typeof fetch = (input, init) => {
    const url = new URL(String(input instanceof Request ? input.url : input));
    return url.port === "8000"
      ? fetch(`http://127.0.0.1:${server.port}${url.pathname}`, init)
      : Promise.reject(new TypeError("connection refused"));
  };
  const client = createLazyModelClient({
    config: {},
    env: {},
    fetch: redirected,
    onNotice: () => {},
  }).with({ model: "blind" });
  assert.deepEqual(client.settings, { model: "blind" });
  assert.deepEqual(await client.models({}), ["eyes", "blind"]);
  await ask(client);
  assert.equal(lastBody(server).model, "blind");
  assert.equal(client.label, "vllm/blind");
});
