/**
 * mm against a real llama.cpp server and a real model, which is small and says little that makes
 * sense: what is tested is that everything is understood on both sides. Run by `deno task
 * test:real-model`, which starts the server.
 *
 * @module
 */
import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Json } from "../support/acp_editor.ts";
import { type TestProject, withProject } from "../support/project.ts";

const URL = process.env["MM_REAL_MODEL_URL"] ?? "";

/** Two processors that do other things too write some five tokens in a second. */
const SLOW = { timeoutMs: 240_000 };

/** Writes an agent and bob, both on the real server. */
async function writeAgents(p: TestProject, keys: Json = {}): Promise<void> {
  const agent = (more: Json) =>
    JSON.stringify({
      provider: "llamacpp",
      baseUrl: URL,
      temperature: 0,
      maxTokens: 16,
      tools: [],
      system: "You answer in a few words.",
      ...more,
    });
  await p.write("agent.yaml", agent({ mmConfigs: { bob: { path: "bob.yaml" } }, ...keys }));
  await p.write("bob.yaml", agent({ system: "You are bob." }));
}

/** Prints a figure beside the result of a test. */
function report(figure: string): void {
  process.stderr.write(`figure: ${figure}\n`);
}

const root = URL.replace(/\/v1$/u, "");

async function get(path: string): Promise<Json> {
  return await (await fetch(root + path)).json();
}

test("the server is as strict about roles as this test needs it", async () => {
  const response = await fetch(`${URL}/chat/completions`, {
    method: "POST",
    body: JSON.stringify({
      max_tokens: 1,
      messages: [{ role: "user", content: "a" }, { role: "user", content: "b" }],
    }),
  });
  const text = await response.text();
  assert.ok(response.status >= 400, text);
  assert.match(text, /Roles must alternate/u);
});

test("a chat: the model's words reach stdout as they come", () =>
  withProject(async (p) => {
    await writeAgents(p);
    const { code, stdout, stderr } = await p.runMm(["-p", "Say hello."], SLOW);
    assert.ok(stdout.trim() !== "", stderr);
    assert.ok(code === 0 || (code === 4 && /output limit/u.test(stderr)), stderr);
  }));

test("-check finds the model, its window and its slots, and sees the prompt cache at work", () =>
  withProject(async (p) => {
    await writeAgents(p, { mmConfigs: {} });
    const props = await get("/props");
    const { stdout } = await p.runMm(["-check"], SLOW);
    assert.match(stdout, /^OK +model +llamacpp\/\S+ at /mu);
    const window = props.default_generation_settings.n_ctx;
    assert.ok(stdout.includes(`window ${window} tokens, ${props.total_slots} at once`), stdout);
    assert.match(stdout, /^OK +streaming +\d+ pieces/mu);
    assert.match(stdout, /^OK +prompt cache +\d+ of the \d+ tokens/mu);
    report(/prompt cache +(.*)$/mu.exec(stdout)?.[1] ?? "");
  }));

test("two asks in a row and then a question are accepted by the strict template", () =>
  withProject(async (p) => {
    await writeAgents(p);
    const editor = p.editor();
    const session = await editor.start();
    for (const text of ["/ask-bob Who are you?", "/ask-bob And who am I?", "What did bob say?"]) {
      const before = editor.text(session).length;
      const { stopReason } = await editor.request("session/prompt", {
        sessionId: session,
        prompt: [{ type: "text", text }],
      }, SLOW);
      assert.ok(["end_turn", "max_tokens"].includes(stopReason), stopReason);
      assert.ok(editor.text(session).slice(before).trim() !== "", `no answer to "${text}"`);
    }
  }));

test("a JSON agent answers with JSON that satisfies its schema", () =>
  withProject(async (p) => {
    await writeAgents(p, {
      maxTokens: 64,
      structuredOutput: {
        schema: {
          type: "object",
          properties: { verdict: { enum: ["good", "bad"] }, points: { type: "integer" } },
          required: ["verdict", "points"],
          additionalProperties: false,
        },
      },
    });
    const { code, stdout, stderr } = await p.runMm(["-p", "Judge this: 1 + 1 = 2"], SLOW);
    assert.equal(code, 0, stderr);
    const answer = JSON.parse(stdout);
    assert.ok(["good", "bad"].includes(answer.verdict), stdout);
    assert.ok(Number.isInteger(answer.points), stdout);
  }));

test("a cancel in mid-stream ends the turn, and the server stops to work", () =>
  withProject(async (p) => {
    await writeAgents(p, { maxTokens: 2000 });
    const editor = p.editor();
    const session = await editor.start();
    const prompt = editor.request("session/prompt", {
      sessionId: session,
      prompt: [{ type: "text", text: "Count to a thousand." }],
    }, SLOW);
    await editor.waitForUpdate(({ kind }) => kind === "agent_message_chunk", SLOW);
    const began = performance.now();
    editor.cancel(session);
    assert.equal((await prompt).stopReason, "cancelled");
    report(`cancelled after ${Math.round(performance.now() - began)} ms`);
    const busy = async () =>
      (await get("/slots") as Json[]).some((slot) => slot.is_processing === true);
    for (let tries = 0; await busy(); tries++) {
      assert.ok(tries < 100, "the server still works on a request that nobody waits for");
      await sleep(100);
    }
  }));

test("from the second request on, the server reads at most a tenth of the earlier prompt again", () =>
  withProject(async (p) => {
    await writeAgents(p, { system: "You answer in a few words. ".repeat(40) });
    const editor = p.editor();
    const session = await editor.start();
    let before = 0;
    for (const text of ["First question.", "Second question.", "Third question.", "Fourth one."]) {
      const { _meta } = await editor.request("session/prompt", {
        sessionId: session,
        prompt: [{ type: "text", text }],
      }, SLOW);
      const { inputTokens, outputTokens, cachedTokens } = _meta.mm.usage;
      report(`${text} ${inputTokens} tokens, ${cachedTokens} from the cache`);
      if (before > 0) {
        assert.ok(cachedTokens >= 0.9 * before, `${cachedTokens} of ${before} were kept`);
        report(`${(100 * cachedTokens / before).toFixed(1)} % of the earlier prompt was kept`);
      }
      assert.ok(outputTokens > 0);
      before = inputTokens;
    }
  }));
