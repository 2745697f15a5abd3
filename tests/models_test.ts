/**
 * The model in use, as people see it: chosen, changed, waited for, given images, counted.
 *
 * @module
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "./support/acp_editor.ts";
import { writeAgents } from "./support/agents.ts";
import { bounded } from "./support/bounded.ts";
import {
  always,
  inOrder,
  type ModelServer,
  type ModelServerOptions,
  onUser,
  type RecordedProbe,
  startModelServer,
} from "./support/model_server.ts";
import { oneAgent, writeAgent } from "./support/one_agent.ts";
import { type TestProject, withProject } from "./support/project.ts";

/** A server with the models "m" and "other", each with a window of its own. */
async function twoModels(
  p: TestProject,
  reply: NonNullable<ModelServerOptions["reply"]> = always({ text: "Hi." }),
  keys: Json = {},
): Promise<ModelServer> {
  const data = [{ id: "m", max_model_len: 100_000 }, { id: "other", max_model_len: 200_000 }];
  const server = await p.model({
    reply,
    route: ({ path }) => path === "/v1/models" ? { body: { object: "list", data } } : undefined,
  });
  await writeAgent(p, server, { provider: "vllm", ...keys });
  return server;
}

test("/model lists the server's models, takes another one from then on, and knows what there is", () =>
  withProject(async (p) => {
    const server = await twoModels(p);
    server.allowNewPrefix(3);
    const { code, stdout } = await p.runMm(["-line"], {
      stdin:
        "One\n/model\n/model othr\n/model OTHER\nTwo\n/model\n/status\n/model m\nThree\n/quit\n",
    });
    assert.equal(code, 0);
    assert.match(stdout, /vllm\/m at http.*, window 100000 tokens\n\* m\n- other\n/);
    assert.match(stdout, /no model "othr", only m, other; did you mean "other"\?/);
    assert.match(stdout, /The model is now vllm\/other at http.*, window 200000 tokens/);
    assert.match(stdout, /- m\n\* other\n/);
    assert.match(stdout, /used: \d+ tokens read, \d+ written/);
    assert.deepEqual(server.requests.map((r) => r.model), ["m", "other", "m"]);
    // The conversation goes on: only who answers is another one.
    assert.deepEqual(
      server.requests.at(-1)?.messages.map((m) => m.content).slice(1),
      ["One", "Hi.", "Two", "Hi.", "Three"],
    );
  }));

test("the demo has no other model and says so", () =>
  withProject(async (p) => {
    await p.write("agent.yaml", "provider: demo\n");
    const { code, stderr } = await p.runMm(["-p", "/model other"]);
    assert.equal(code, 1);
    assert.match(stderr, /demo \(no model\) is the only model here/);
  }));

test("an editor is offered the server's models, and a choice is that session's alone", () =>
  withProject(async (p) => {
    const server = await twoModels(p);
    const editor = p.editor();
    const session = await editor.start();
    const modelOf = (options: Json) => options.find((one: Json) => one.category === "model");
    const told = await editor.waitForUpdate(({ kind, update }) =>
      kind === "config_option_update" && modelOf(update.configOptions).options.length === 2
    );
    const option = modelOf(told.update.configOptions);
    assert.equal(option.currentValue, "vllm/m");
    assert.deepEqual(
      option.options.map((one: Json) => one.value),
      ["vllm/m", "vllm/other"],
    );
    const stays = await editor.newSession();
    const { configOptions } = await editor.request("session/set_config_option", {
      sessionId: session,
      configId: "model",
      value: "vllm/other",
    });
    assert.equal(modelOf(configOptions).currentValue, "vllm/other");
    const reply = await editor.prompt(session, "Hello");
    assert.equal(reply._meta.mm.label, "vllm/other");
    assert.equal((await editor.prompt(stays, "Hello"))._meta.mm.label, "vllm/m");
    assert.deepEqual(server.requests.map((r) => r.model), ["other", "m"]);
    const used = editor.updatesOf(session, "usage_update").at(-1);
    assert.equal(used.size, 200_000, "the window is that of the model that answered");
    await assert.rejects(
      editor.request("session/set_config_option", {
        sessionId: session,
        configId: "model",
        value: "vllm/none",
      }),
      /no model "none", only m, other.*-32602/,
    );
    // A slash command changes it as well, and the editor is told.
    await editor.prompt(session, "/model m");
    const last = editor.updatesOf(session, "config_option_update").at(-1);
    assert.equal(modelOf(last.configOptions).currentValue, "vllm/m");
  }));

test("a provider that is asked nothing about itself hears of mm with the first prompt only", () =>
  withProject(async (p) => {
    const server = await p.model({ reply: always({ text: "Hi." }), models: ["gpt-5", "gpt-6"] });
    await writeAgent(p, server, { provider: "openai", apiKey: "k", model: undefined });
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "/status");
    assert.deepEqual(server.probes, []);
    await editor.prompt(session, "Hello");
    await editor.waitForUpdate(({ kind, update }) =>
      kind === "config_option_update" && JSON.stringify(update).includes("openai/gpt-6")
    );
    assert.deepEqual(server.probes.map(({ path }: RecordedProbe) => path), ["/v1/models"]);
  }));

test("an asked agent's server is not asked for its models", () =>
  withProject(async (p) => {
    const server = await p.model({ reply: always({ text: "Hi." }) });
    await writeAgents(p, { server });
    const { code } = await p.runMm(["--ask", "bob", "Hello"]);
    assert.equal(code, 0);
    assert.deepEqual(server.probes.map(({ path }: RecordedProbe) => path), ["/props"]);
  }));

test("a reasoning effort can be chosen where the model has one, and only there", () =>
  withProject(async (p) => {
    const server = await twoModels(p, always({ text: "Hi." }), { reasoning: "low" });
    const editor = p.editor();
    const session = await editor.start();
    const set = (value: string) =>
      editor.request("session/set_config_option", {
        sessionId: session,
        configId: "reasoning",
        value,
      });
    const effortOf = ({ configOptions }: Json) =>
      configOptions.find((one: Json) => one.category === "thought_level").currentValue;
    assert.equal(effortOf(await set("high")), "high");
    await editor.prompt(session, "One");
    await assert.rejects(set("enormous"), /Cannot set the reasoning to "enormous"/);
    assert.equal(effortOf(await set("default")), "default");
    server.allowNewPrefix();
    await editor.prompt(session, "Two");
    assert.deepEqual(server.requests.map((r) => r.body.reasoning_effort), ["high", undefined]);
  }));

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const IMAGE = [
  { type: "text", text: "What is it?" },
  { type: "image", mimeType: "image/png", data: PNG },
];

/** A llama.cpp whose model takes images, or does not. */
const seeing = (vision: boolean): ModelServerOptions => ({
  reply: always({ text: "A dot." }),
  route: ({ path }) =>
    path === "/props"
      ? {
        body: {
          default_generation_settings: { n_ctx: 4096 },
          total_slots: 1,
          modalities: { vision },
        },
      }
      : undefined,
});

test("that a model takes images is announced, when its server says so in time", () =>
  withProject(async (p) => {
    const server = await p.model(seeing(true));
    await writeAgent(p, server);
    // The greeting waits for a moment only, which a busy machine may let pass.
    for (let tries = 0;; tries++) {
      const editor = p.editor();
      const { agentCapabilities } = await editor.initialize();
      if (agentCapabilities.promptCapabilities.image === true) break;
      assert.ok(tries < 10, "never announced");
    }
  }));

test("an image reaches a model that takes images, as a data URL, and stays in the conversation", () =>
  withProject(async (p) => {
    const server = await p.model(seeing(false));
    // What is configured needs no answer of the server, and counts more.
    await writeAgent(p, server, { images: true });
    const editor = p.editor();
    const { agentCapabilities } = await editor.initialize();
    assert.equal(agentCapabilities.promptCapabilities.image, true);
    const session = await editor.newSession();
    await editor.prompt(session, IMAGE);
    await editor.prompt(session, "And now?");
    assert.equal(editor.text(session), "A dot.A dot.");
    for (const { messages } of server.requests) {
      assert.deepEqual(messages[1]?.content, [
        { type: "text", text: "What is it?" },
        { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
      ]);
    }
  }));

test("a model that takes no images announces none, and an image is refused with the reason", () =>
  withProject(async (p) => {
    const server = await p.model(seeing(false));
    await writeAgent(p, server);
    const editor = p.editor();
    const { agentCapabilities } = await editor.initialize();
    assert.equal(agentCapabilities.promptCapabilities.image, false);
    const session = await editor.newSession();
    await assert.rejects(editor.prompt(session, IMAGE), /not known to read images.*-32602/);
    assert.equal(server.requests.length, 0);
  }));

test("the greeting waits no longer than a moment for a server that says nothing about itself", () =>
  withProject(async (p) => {
    const server = await p.model({ route: () => ({ hang: true }) });
    await writeAgent(p, server);
    const editor = p.editor();
    const { agentCapabilities } = await editor.initialize();
    assert.equal(agentCapabilities.promptCapabilities.image, false);
  }));

test("what requests cost is added up for the session, and told with the answer", () =>
  withProject(async (p) => {
    const usage = (cost: number) => ({
      prompt_tokens: 100,
      completion_tokens: 10,
      prompt_tokens_details: { cached_tokens: 60 },
      cost,
    });
    const server = await oneAgent(
      p,
      inOrder({ text: "One.", usage: usage(0.25) }, { text: "Two.", usage: usage(0.5) }),
    );
    const editor = p.editor();
    const session = await editor.start();
    const first = await editor.prompt(session, "First");
    assert.deepEqual(first._meta.mm.usage, {
      inputTokens: 100,
      outputTokens: 10,
      cachedTokens: 60,
      cost: 0.25,
    });
    await editor.prompt(session, "Second");
    const updates = editor.updatesOf(session, "usage_update");
    assert.deepEqual(updates.map((one) => one.cost), [
      { amount: 0.25, currency: "USD" },
      { amount: 0.75, currency: "USD" },
    ]);
    await editor.prompt(session, "/status");
    assert.match(
      editor.text(session),
      /used: 200 tokens read \(120 from the cache\), 20 written, 0\.75 USD/,
    );
    assert.equal(server.requests.length, 2);
  }));

test("--ask -json has the usage and the cost of the asked agent's requests", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: always({
        text: "Four.",
        usage: {
          prompt_tokens: 50,
          completion_tokens: 5,
          prompt_tokens_details: { cached_tokens: 40 },
          cost: 0.001,
        },
      }),
    });
    await writeAgents(p, { server });
    const { stdout } = await p.runMm(["--ask", "bob", "-json", "2+2?"]);
    assert.deepEqual(JSON.parse(stdout).usage, {
      inputTokens: 50,
      outputTokens: 5,
      cachedTokens: 40,
      cost: 0.001,
    });
  }));

test("E22: line mode shows how long it waits, Ctrl-C ends the wait at once, and the next prompt works", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, [
      onUser("Wait", {
        status: 429,
        body: { error: "slow down" },
        headers: { "retry-after": "50" },
      }),
      onUser("Go", { text: "Gone." }),
    ]);
    const mm = p.mm(["-line"]);
    mm.writeLine("Wait");
    await mm.waitForOutput(/HTTP 429: slow down; trying again in 50 s/);
    const began = performance.now();
    mm.signalGroup("SIGINT");
    await mm.waitForOutput("The turn was cancelled");
    assert.ok(performance.now() - began < 10_000, "the wait of 50 s was not sat out");
    mm.writeLine("Go");
    await mm.waitForOutput("Gone.");
    mm.writeLine("/quit");
    assert.equal((await mm.exit).code, 0);
    assert.equal(server.requests.length, 2);
  }));

test("E23: a server that is started late is waited for, visibly, and answers", () =>
  withProject(async (p) => {
    const reserved = await startModelServer({});
    const { port } = reserved;
    await reserved.close();
    await p.write(
      "agent.yaml",
      JSON.stringify({ provider: "llamacpp", baseUrl: `http://127.0.0.1:${port}/v1`, model: "m" }),
    );
    const mm = p.mm(["-p", "Go"]);
    await mm.waitForOutput(/cannot be reached: connection refused; trying again in/);
    await p.model({ port, reply: always({ text: "Here now." }) });
    assert.equal((await mm.exit).code, 0);
    assert.equal(mm.stdout, "Here now.\n");
  }));

test("E23: an editor sees the wait for a server that loads, and its cancel ends it", () =>
  withProject(async (p) => {
    await oneAgent(p, always({ status: 503, body: { error: { message: "Loading model" } } }));
    const editor = p.editor();
    const session = await editor.start();
    const prompt = editor.prompt(session, "Go");
    await editor.waitForUpdate(({ kind, update }) =>
      kind === "agent_thought_chunk" && /Loading model; trying again/.test(update.content.text)
    );
    editor.cancel(session);
    const { stopReason } = await bounded(prompt, 10_000, () => "the wait went on");
    assert.equal(stopReason, "cancelled");
  }));

test("-check tells what a server does: its model, window, slots, calls, stream, thoughts, cache", () =>
  withProject(async (p) => {
    const usage = (prompt: number, cached: number) => ({
      prompt_tokens: prompt,
      completion_tokens: 5,
      prompt_tokens_details: { cached_tokens: cached },
    });
    await oneAgent(
      p,
      inOrder(
        {
          reasoning: "I call it.",
          toolCalls: [{ name: "report_ready", arguments: { word: "ready" } }],
          usage: usage(120, 0),
        },
        { text: "one two three four five", usage: usage(150, 118) },
      ),
    );
    const { code, stdout } = await p.runMm(["-check"]);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /^OK +model +llamacpp\/m at http.*window 32768 tokens, 4 at once/m);
    assert.match(stdout, /^OK +tool calls +the model called its tool$/m);
    assert.match(stdout, /^OK +streaming +5 pieces in /m);
    assert.match(stdout, /^OK +reasoning +seen/m);
    assert.match(
      stdout,
      /^OK +prompt cache +118 of the 120 tokens of the first request were kept/m,
    );
  }));
