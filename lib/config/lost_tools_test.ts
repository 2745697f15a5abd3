import assert from "node:assert/strict";
import { test } from "node:test";
import { inTestDir } from "./testing.ts";

/** Loads a configuration and returns the warnings. */
async function warningsOf(yaml: string): Promise<string[]> {
  const warnings: string[] = [];
  await inTestDir(async (dir) => {
    await dir.write("agent.yaml", yaml);
    await dir.load({ onWarning: (text) => warnings.push(text) });
  });
  return warnings;
}

test("tools about subagents without the one that starts them are warned about", async () => {
  assert.deepEqual(await warningsOf("tools: [read, list_agents]\n"), [
    '"tools" names list_agents and not agent, so it is left out; add agent to it',
  ]);
  assert.deepEqual(await warningsOf("tools: [wait_agent, task_stop]\n"), [
    '"tools" names wait_agent, task_stop and not agent, so they are left out; add agent to it',
  ]);
});

test("tools about the background where nothing runs there are warned about", async () => {
  const tools = "tools: [agent, list_agents, task_stop]\n";
  assert.deepEqual(await warningsOf(`${tools}agents: {background: never}\n`), [
    '"tools" names list_agents, task_stop, which are left out: "agents.background" is never',
  ]);
  assert.deepEqual(await warningsOf(tools), []);
});

test("without such tools, and without a list, there is no warning", async () => {
  assert.deepEqual(await warningsOf("tools: [read]\nagents: {background: never}\n"), []);
  assert.deepEqual(await warningsOf("agents: {background: never}\n"), []);
});
