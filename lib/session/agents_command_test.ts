import assert from "node:assert/strict";
import { test } from "node:test";
import { idlePool } from "../agents/testing.ts";
import { agentsCommand } from "./agents_command.ts";

const options = {
  pool: idlePool(),
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
