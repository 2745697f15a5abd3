import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { AgentConfig } from "../config/types.ts";
import { bannerText } from "./banner.ts";
import { completionsOf } from "./line_mode.ts";
import { createPaint } from "./paint.ts";

test("bannerText() names the agent, its model, the directory, yolo and who can be asked", () => {
  const config = {
    model: {},
    agents: [{ name: "bob", path: "/bob.yaml", description: "Reviews" }],
  } as unknown as AgentConfig;
  const host = { title: "My agent\x1b[2J", label: "x/y", config };
  const banner = bannerText({
    host,
    cwd: "/work",
    yolo: true,
    instructions: "",
    paint: createPaint(false),
  });
  assert.match(banner, /^My agent\\x1b\[2J · x\/y\nin \/work\nyolo is on.*\n\/ask-bob Reviews\n/u);
  const careful = bannerText({
    host: { ...host, config: { ...config, model: { contextWindow: 4096 } } },
    cwd: "/work",
    yolo: false,
    instructions: "a file",
    paint: createPaint(false),
  });
  assert.doesNotMatch(careful, /yolo is on/u);
  assert.match(careful, /^My agent.* · x\/y · window 4096 tokens\n/u);
  assert.match(careful, /\nproject instructions: a file\n/u);
  assert.doesNotMatch(banner, /instructions/u);
});

test("completionsOf() completes what stands behind /tasks: its words, and the ids of runs", () => {
  const commands = [{ name: "tasks", description: "" }];
  const ids = ["task-1f09ab", "task-222222"];
  const complete = (line: string) => completionsOf(line, commands, ids);
  assert.deepEqual(complete("/tasks s"), ["/tasks stop "]);
  assert.deepEqual(complete("/tasks t"), [
    "/tasks tell ",
    "/tasks task-1f09ab",
    "/tasks task-222222",
  ]);
  assert.deepEqual(complete("/tasks stop task-2"), ["/tasks stop task-222222"]);
  assert.deepEqual(complete("/tasks tell "), ids.map((id) => `/tasks tell ${id}`));
  assert.deepEqual(complete("/tasks tell task-222222 "), []);
  assert.deepEqual(completionsOf("/tasks stop ", commands), []);
});

test("completionsOf() completes names of commands and nothing behind them", () => {
  const commands = [
    { name: "ask", description: "", hint: "agent question" },
    { name: "agents", description: "" },
  ];
  assert.deepEqual(completionsOf("/a", commands), ["/ask ", "/agents"]);
  assert.deepEqual(completionsOf("/ag", commands), ["/agents"]);
  for (const line of ["", "a", "/ask b", " /a"]) {
    assert.deepEqual(completionsOf(line, commands), []);
  }
});
