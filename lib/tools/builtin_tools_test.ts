import assert from "node:assert/strict";
import { test } from "node:test";
import { TOOL_NAMES } from "../config/tool_names.ts";
import { builtinTools } from "./builtin_tools.ts";
import { selectTools } from "./tool_names.ts";

/** Bytes that all declarations together may cost in every first request. */
const BUDGET = 4200;

test("the declarations of all tools keep to their budget", () => {
  const declared = builtinTools().map(({ name, description, parameters }) =>
    JSON.stringify({ name, description, parameters })
  );
  const bytes = new TextEncoder().encode(declared.join("")).length;
  assert.ok(bytes <= BUDGET, `${bytes} bytes of at most ${BUDGET}`);
});

test("the tools come in one order, which is that of their names", () => {
  // The tools that need other agents come last.
  assert.deepEqual([
    ...builtinTools().map(({ name }) => name),
    "ask_agent",
    "agent",
    "list_agents",
    "send_message",
    "wait_agent",
    "task_stop",
  ], TOOL_NAMES);
  assert.equal(JSON.stringify(builtinTools()), JSON.stringify(builtinTools()));
});

test("what changes something is gated, what only looks may run in parallel", () => {
  const names = (wanted: "gated" | "parallel") =>
    builtinTools().filter((tool) => tool[wanted]).map(({ name }) => name);
  assert.deepEqual(names("gated"), ["bash", "write", "edit", "fetch"]);
  assert.deepEqual(names("parallel"), ["read", "glob", "grep", "ls", "fetch"]);
});

test("selectTools() has every tool when no list is given", () => {
  const all = selectTools(undefined);
  assert.ok(all.has("bash") && all.has("mcp__x__y"));
  assert.deepEqual(all.unknown(TOOL_NAMES), []);
});

test("selectTools() takes names and patterns, and no part of a name", () => {
  const some = selectTools(["read", "mcp__git__*", "mcp__*__search"]);
  const has = ["read", "mcp__git__log", "mcp__web__search"];
  const hasNot = ["rea", "readx", "bash", "mcp__gith__log", "xmcp__git__log", "mcp__web__search2"];
  assert.deepEqual([...has, ...hasNot].filter(some.has), has);
  assert.ok(!selectTools(["a.c"]).has("abc"));
  assert.ok(!selectTools([]).has("read"));
});

test("selectTools() takes patterns that must all match, and some that must not", () => {
  const { has } = selectTools(["mcp__git__*&mcp__*__log&!mcp__git__old__*", "read"]);
  assert.ok(has("mcp__git__log") && has("read"));
  assert.deepEqual(
    ["mcp__git__push", "mcp__web__log", "mcp__git__old__log", "!x", "bash"].filter(has),
    [],
  );
});

test("selectTools() reports entries that name no tool, with the nearest", () => {
  const some = selectTools(["raed", "read", "nothing-like-it", "gr*", "x*", "mcp__git__*"]);
  assert.deepEqual(some.unknown(TOOL_NAMES), [
    { entry: "raed", nearest: "read" },
    { entry: "nothing-like-it" },
    { entry: "x*" },
    { entry: "mcp__git__*" },
  ]);
  assert.deepEqual(
    some.unknown([...TOOL_NAMES, "mcp__git__log"]).map(({ entry }) => entry),
    ["raed", "nothing-like-it", "x*"],
  );
});
