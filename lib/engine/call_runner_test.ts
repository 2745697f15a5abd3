import assert from "node:assert/strict";
import { test } from "node:test";
import type { ToolDeclaration } from "../model/types.ts";
import type { Tool } from "../tools/tool.ts";
import { type CallEnvironment, runCall } from "./call_runner.ts";
import type { EngineEvent } from "./events.ts";
import { quietEnvironment } from "./testing.ts";
import { Watchdog } from "./watchdog.ts";

/** A tool that says what it was called with. */
const echo: Tool = {
  name: "echo",
  kind: "other",
  description: "",
  parameters: {},
  gated: false,
  parallel: false,
  parse: (input) => ({ input }),
  preview: () => Promise.resolve({ title: "echo" }),
  run: (input) => Promise.resolve({ ok: true, text: JSON.stringify(input) }),
};

const declaration = (name: string): ToolDeclaration => ({ name, description: "", parameters: {} });

async function run(name: string, more: Partial<CallEnvironment>) {
  const events: EngineEvent[] = [];
  const watchdog = new Watchdog({ timeoutMs: 60_000, onTimeout: () => {} });
  const environment = {
    ...quietEnvironment(),
    tools: [echo],
    emit: (event: EngineEvent) => events.push(event),
    watchdog,
    ...more,
  };
  try {
    const call = { id: "1", name, arguments: '{"a":1}' };
    return { outcome: await runCall(call, environment, () => {}), events };
  } finally {
    watchdog.stop();
  }
}

test("a call that may not run is shown as failed and is not wrong", async () => {
  const barred = (name: string) => name === "echo" ? "not here" : undefined;
  for (const name of ["echo", "Echo"]) {
    const { outcome, events } = await run(name, { barred });
    assert.equal(outcome.ok, false);
    assert.equal(outcome.wrong, false);
    assert.equal(outcome.barred, true);
    assert.match(outcome.text, /^Not run: not here\. /u);
    assert.deepEqual(events.map((event) => event.type), ["tool_call", "tool_update"]);
  }
});

test("a tool that is declared and not there is told apart from one that is not declared", async () => {
  const declared = [declaration("echo"), declaration("far")];
  const barred = (name: string) => name === "other" || name === "far" ? "no" : undefined;
  assert.match((await run("far", { declared })).outcome.text, /"far" is declared, but/u);
  assert.equal((await run("far", { declared, barred })).outcome.barred, true);
  const { outcome } = await run("other", { declared, barred });
  assert.match(outcome.text, /^There is no tool "other", only echo, far/u);
  assert.equal(outcome.wrong, true);
  assert.equal((await run("echo", { declared, barred })).outcome.text, '{"a":1}');
});
