import assert from "node:assert/strict";
import { test } from "node:test";
import type { Tool, ToolContext } from "../tools/tool.ts";
import { runTools } from "./run_tools.ts";

const nothing = () => Promise.resolve({ ok: true, text: "" });
const tools = runTools({ list: nothing, send: nothing, wait: nothing, stop: nothing });
const tool = (name: string): Tool => tools.find((one) => one.name === name)!;

test("arguments that are wrong are told in words that say what to send", () => {
  const cases: readonly [string, unknown, string][] = [
    ["list_agents", { all: true }, '"all" is not an argument. This tool takes no arguments'],
    [
      "wait_agent",
      { timeout: 0 },
      '"timeout": has to be more than 0 and at most 3600 seconds',
    ],
    [
      "wait_agent",
      { timeout: 3601 },
      '"timeout" has to be a number of at most 3600, got 3601. ' +
      "The arguments are task_ids (optional) and timeout (optional)",
    ],
  ];
  for (const [name, raw, error] of cases) assert.deepEqual(tool(name).parse(raw), { error });
});

test("the title of a wait names its runs, or says that it is for all of them", async () => {
  const context = {} as ToolContext;
  const titles = [{}, { task_ids: [] }, { task_ids: ["task-1f09ab", "task-222222"] }].map(
    async (input) => (await tool("wait_agent").preview(input, context)).title,
  );
  assert.deepEqual(await Promise.all(titles), [
    "wait for all",
    "wait for all",
    "wait for task-1f09ab, task-222222",
  ]);
});
