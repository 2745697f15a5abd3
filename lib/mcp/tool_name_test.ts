import assert from "node:assert/strict";
import { test } from "node:test";
import { MAX_TOOL_NAME, mcpToolName, serverKey } from "./tool_name.ts";

const ALLOWED = /^[A-Za-z0-9_-]{1,64}$/u;

test("a plain name stays as it is between the marks", () => {
  const taken = new Set<string>();
  assert.equal(mcpToolName("git", "git_log", taken), "mcp__git__git_log");
  assert.deepEqual([...taken], ["mcp__git__git_log"]);
});

test("every name is one that all providers take, and no two are the same", () => {
  const taken = new Set<string>();
  const long = "a".repeat(200);
  const names = [
    "x y",
    "x.y",
    "x/y",
    "",
    "é",
    "日本",
    "日本語",
    long,
    `${long}b`,
    `${long}c`,
    "x_y",
  ];
  const made = names.map((name) => mcpToolName("server", name, taken));
  for (const name of made) assert.match(name, ALLOWED);
  assert.equal(new Set(made).size, names.length);
  assert.equal(made[0], "mcp__server__x_y");
  assert.match(made[1] ?? "", /^mcp__server__x_y_[0-9a-f]{6}$/u);
  assert.equal(made[7]?.length, MAX_TOOL_NAME);
});

test("a name does not depend on the start: what is cut is told apart by the real name", () => {
  const once = mcpToolName("s", "n".repeat(100), new Set());
  assert.equal(mcpToolName("s", "n".repeat(100), new Set()), once);
  assert.notEqual(mcpToolName("s", "n".repeat(101), new Set()), once);
});

test("a tool that a server lists twice has two names", () => {
  const taken = new Set<string>();
  const made = [1, 2, 3].map(() => mcpToolName("s", "a", taken));
  assert.equal(new Set(made).size, 3);
});

test("keys of servers hold no double mark, so that a pattern means one server", () => {
  const taken = new Set<string>();
  assert.equal(serverKey("a__b", taken), "a_b");
  assert.equal(serverKey("a b", taken), "a_b-2");
  assert.equal(serverKey("__x__", taken), "x");
  assert.equal(serverKey("日本", taken), "server");
  assert.equal(serverKey("", taken), "server-2");
  const long = serverKey("s".repeat(100), taken);
  assert.equal(long.length, 32);
  assert.equal(serverKey("s".repeat(100), taken).length, 32);
  assert.ok(mcpToolName(long, "t".repeat(100), new Set()).length <= MAX_TOOL_NAME);
});
