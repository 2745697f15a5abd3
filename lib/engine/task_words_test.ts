import assert from "node:assert/strict";
import { test } from "node:test";
import { type TaskEvent, taskWords } from "./task_words.ts";

const words = (more: Partial<TaskEvent>) =>
  taskWords({
    type: "task",
    taskId: "task-1f09ab",
    agent: "explore",
    description: "Find the tests",
    state: "running",
    ...more,
  });

test("each state of a run has its own words", () => {
  assert.equal(
    words({ state: "queued" }),
    "explore (task-1f09ab) waits for a slot (agents.maxParallel)",
  );
  assert.equal(words({}), "explore (task-1f09ab) started: Find the tests");
  assert.equal(words({ state: "parked" }), "explore (task-1f09ab) waits for your permission");
  const ended = "explore (task-1f09ab) ended: Find the tests";
  assert.equal(words({ state: "ended" }), ended);
  assert.equal(words({ state: "ended", end: { kind: "answered" } }), ended);
});

test("another end than an answer is told in the words of ends", () => {
  const failed = words({ state: "ended", end: { kind: "failed", reason: "no model" } });
  assert.match(failed, /^explore \(task-1f09ab\) failed: no model$/u);
  assert.match(words({ state: "ended", end: { kind: "cancelled" } }), /was cancelled/u);
});

test("whatever a model and a server wrote, it is one line of bounded length", () => {
  const long = `a\nb${"x".repeat(1000)}`;
  const failed = words({ state: "ended", end: { kind: "failed", reason: long } });
  for (const text of [words({ description: long }), words({ agent: long }), failed]) {
    assert.ok(!text.includes("\n"));
    assert.ok(text.length <= 300, String(text.length));
  }
});
