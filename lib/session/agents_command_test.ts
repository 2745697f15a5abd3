import assert from "node:assert/strict";
import { test } from "node:test";
import { AgentPool } from "../agents/pool.ts";
import { agentsCommand } from "./agents_command.ts";

const never = () => Promise.reject(new Error("No process is started here"));

const options = {
  pool: new AgentPool({
    entries: [],
    depth: 0,
    env: {},
    self: ["mm"],
    start: never,
    connect: never,
    redact: (text) => text,
    silenceMs: 60_000,
    callBudgetMs: 60_000,
  }),
  config: { permissions: { allow: [], ask: [], deny: [] } },
  yolo: false,
  signal: new AbortController().signal,
};

const delegation = {
  definitions: (rest: string) => Promise.resolve({ ok: rest !== "show x", text: `<${rest}>` }),
};

test("the list has the agents that can be asked, then the definitions", async () => {
  const { ok, text } = await agentsCommand({ ...options, delegation, rest: "" });
  assert.ok(ok);
  assert.equal(text, `${options.pool.unknownAgent("")}\n\nSubagents:\n<>`);
});

test("further words are about definitions, and what comes of them is what the command says", async () => {
  const show = (rest: string) => agentsCommand({ ...options, delegation, rest });
  assert.deepEqual(await show("show y"), { ok: true, text: "<show y>" });
  assert.deepEqual(await show("show x"), { ok: false, text: "<show x>" });
});

test("where nobody delegates there are no definitions to list, and further words are refused", async () => {
  const command = (rest: string) => agentsCommand({ ...options, delegation: undefined, rest });
  assert.deepEqual(await command(""), { ok: true, text: options.pool.unknownAgent("") });
  assert.deepEqual(await command("show explore"), {
    ok: false,
    text: "There are no subagents here, so /agents takes no more words",
  });
});
