import { test } from "node:test";
import assert from "node:assert/strict";
import type { ModelConfig, ProviderName } from "../config/types.ts";
import { createModelClient } from "./client.ts";
import { discoverServer, noServerError, resolveModelConfig } from "./discover.ts";
import {
  delta,
  events,
  plain,
  type RawRequest,
  type RawServer,
  startRawServer,
  STREAM_HEAD,
} from "./testing.ts";

const GOOD = STREAM_HEAD + events(delta({ content: "ok" }, "stop")) + "data: [DONE]\n\n";

/** Serves JSON by path. */
function serve(pages: Record<string, unknown>, port?: number): Promise<RawServer> {
  return startRawServer(
    (socket) => void socket.end(GOOD),
    ({ path }: RawRequest) => path in pages ? { status: 200, json: pages[path] } : undefined,
    port,
  );
}

function clientFor(server: RawServer, provider: ProviderName, config: ModelConfig = {}) {
  return createModelClient({ config: { provider, baseUrl: server.url, ...config }, env: {} });
}

test("llama.cpp: the window of a slot, the slots, images and the model are found", async () => {
  await using server = await serve({
    "/v1/models": { data: [{ id: "gemma.gguf" }] },
    "/props": {
      default_generation_settings: { n_ctx: 8192 },
      total_slots: 4,
      modalities: { vision: true, audio: false },
    },
  });
  const client = clientFor(server, "llamacpp");
  assert.equal(client.label, "llamacpp");
  assert.equal(client.contextWindow, undefined);
  assert.deepEqual(await client.facts({}), { contextWindow: 8192, slots: 4, images: true });
  assert.equal(client.label, "llamacpp/gemma.gguf");
  assert.equal(client.contextWindow, 8192);
  const asked = server.requests.length;
  await client.facts({});
  assert.equal(server.requests.length, asked, "facts are asked for once");
});

test("Ollama: the running model and its window, else the file's, else the most it can have", async () => {
  const show = {
    parameters: 'stop  "x"\nnum_ctx   16384',
    model_info: { "general.architecture": "qwen3", "qwen3.context_length": 40960 },
    capabilities: ["completion", "vision"],
  };
  const list = { data: [{ id: "other:latest" }, { id: "qwen3:latest" }] };
  await using running = await serve({
    "/v1/models": list,
    "/api/ps": { models: [{ name: "qwen3:latest", model: "qwen3:latest", context_length: 4096 }] },
    "/api/show": show,
  });
  const client = clientFor(running, "ollama");
  assert.deepEqual(await client.facts({}), { contextWindow: 4096, images: true });
  assert.equal(client.label, "ollama/qwen3:latest");

  await using idle = await serve({
    "/v1/models": list,
    "/api/ps": { models: [] },
    "/api/show": show,
  });
  assert.equal(
    (await clientFor(idle, "ollama", { model: "qwen3" }).facts({})).contextWindow,
    16384,
  );

  await using bare = await serve({ "/api/show": { ...show, parameters: "" } });
  assert.equal(
    (await clientFor(bare, "ollama", { model: "qwen3" }).facts({})).contextWindow,
    40960,
  );
});

test("LM Studio: the loaded model and its window are found", async () => {
  await using server = await serve({
    "/v1/models": { data: [{ id: "a" }, { id: "b" }] },
    "/api/v0/models": {
      data: [
        { id: "text-embedding-x", type: "embeddings", state: "loaded" },
        { id: "a", type: "llm", state: "not-loaded", max_context_length: 131072 },
        {
          id: "b",
          type: "vlm",
          state: "loaded",
          max_context_length: 131072,
          loaded_context_length: 4096,
        },
      ],
    },
  });
  const client = clientFor(server, "lmstudio");
  assert.deepEqual(await client.facts({}), { contextWindow: 4096, images: true });
  assert.equal(client.label, "lmstudio/b");
});

test("vLLM and others: the window stands in the list of models", async () => {
  await using server = await serve({
    "/v1/models": { data: [{ id: "embed-1" }, { id: "q", max_model_len: 32768 }] },
  });
  assert.deepEqual(await clientFor(server, "vllm").facts({}), { contextWindow: 32768 });
  const custom = clientFor(server, "custom");
  assert.deepEqual(await custom.facts({}), { contextWindow: 32768 });
  assert.equal(custom.label, "custom/q");
});

test("a configured window wins", async () => {
  await using server = await serve({ "/props": { default_generation_settings: { n_ctx: 8192 } } });
  const client = clientFor(server, "llamacpp", { model: "m", contextWindow: 1000 });
  assert.equal(client.contextWindow, 1000);
  assert.equal((await client.facts({})).contextWindow, 1000);
  assert.equal(client.contextWindow, 1000);
});

test("a server that is silent about itself answers all the same, and is asked again later", async () => {
  let ready = false;
  await using server = await startRawServer(
    (socket) => void socket.end(ready ? GOOD : plain(503, '{"error":"Loading model"}')),
    ({ path }) =>
      !ready
        ? { status: 503, json: { error: { message: "Loading model" } } }
        : path === "/props"
        ? { status: 200, json: { default_generation_settings: { n_ctx: 512 } } }
        : { status: 200, json: { data: [{ id: "late" }] } },
  );
  const client = createModelClient({
    config: { provider: "llamacpp", baseUrl: server.url },
    env: {},
    timing: { baseMs: 1, pollMs: 5 },
  });
  assert.deepEqual(await client.facts({}), {});
  const reply = await client.complete({ messages: [{ role: "user", text: "hi" }], tools: [] }, {
    signal: new AbortController().signal,
    patienceMs: 5000,
    onEvent: (event) => ready ||= event.type === "waiting",
  });
  assert.equal(reply.message.text, "ok");
  assert.equal(client.label, "llamacpp/late");
  assert.equal(JSON.parse(server.chats.at(-1)?.body ?? "").model, "late");
  assert.deepEqual(await client.facts({}), { contextWindow: 512 });
});

test("a probe that hangs ends with the signal", async () => {
  await using server = await startRawServer((socket) => void socket.end(GOOD), () => {
    controller.abort();
    return { status: 503, json: {} };
  });
  const controller = new AbortController();
  assert.deepEqual(await clientFor(server, "llamacpp").facts({ signal: controller.signal }), {});
});

test("discoverServer() takes the first server in its order, whoever answers first", async () => {
  await using ollama = await serve({ "/v1/models": { data: [{ id: "q" }] } });
  await using vllm = await serve({ "/v1/models": { data: [{ id: "v" }] } });
  await using empty = await serve({ "/v1/models": { data: [] } });
  const closed = await serve({});
  await closed[Symbol.asyncDispose]();
  const ports = {
    llamacpp: closed.port,
    ollama: ollama.port,
    lmstudio: empty.port,
    vllm: vllm.port,
  };
  const found = await discoverServer({ env: { OPENAI_API_KEY: "x" }, ports, timeoutMs: 2000 });
  assert.equal(found?.provider, "ollama");
  assert.equal(found?.baseUrl, ollama.url);
  assert.match(found?.notice ?? "", /using Ollama, found at http/u);
  const second = await discoverServer({
    env: {},
    ports: { ...ports, ollama: empty.port },
    timeoutMs: 2000,
  });
  assert.equal(second?.provider, "vllm");
});

test("discoverServer() takes a llama.cpp that still loads its model", async () => {
  await using server = await startRawServer(
    () => {},
    () => ({ status: 503, json: { error: { message: "Loading model", code: 503 } } }),
  );
  const ports = { llamacpp: server.port, ollama: 1, lmstudio: 1, vllm: 1 };
  const found = await discoverServer({ env: {}, ports, timeoutMs: 2000 });
  assert.equal(found?.provider, "llamacpp");
});

test("with no local server a key in the environment decides; with none the error says what to do", async () => {
  const closed = await serve({});
  await closed[Symbol.asyncDispose]();
  const { port } = closed;
  const ports = { llamacpp: port, ollama: port, lmstudio: port, vllm: port };
  const options = { ports, timeoutMs: 2000 };
  const { config, notice } = await resolveModelConfig({
    ...options,
    env: { ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: " " },
    config: { temperature: 0 },
  });
  assert.deepEqual(config, { temperature: 0, provider: "anthropic" });
  assert.match(notice ?? "", /because ANTHROPIC_API_KEY is set$/u);
  assert.deepEqual(
    await resolveModelConfig({ ...options, env: {}, config: { provider: "demo" } }),
    { config: { provider: "demo" } },
  );
  await assert.rejects(resolveModelConfig({ ...options, env: {}, config: {} }), {
    name: "UserError",
    message: noServerError().message,
  });
  assert.match(
    noServerError().message,
    /llama\.cpp \(8080\).*OPENAI_API_KEY.*agent\.yaml.*-demo/su,
  );
});
