import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChildUpdate } from "./child_connection.ts";
import { OpenCalls } from "./open_calls.ts";

function call(id: string, status: "pending" | "in_progress"): ChildUpdate {
  return {
    type: "tool_call",
    status,
    call: { id, name: "bash", title: "x", kind: "execute", input: {} },
  };
}

function pauses() {
  const state = { paused: 0 };
  return {
    state,
    pause: () => {
      state.paused++;
      return () => state.paused--;
    },
  };
}

test("silence does not count from a call's start to its end", () => {
  const { state, pause } = pauses();
  const calls = new OpenCalls({ pause, budgetMs: 60_000 });
  calls.note(call("1", "pending"));
  assert.equal(state.paused, 0);
  calls.note({ type: "tool_update", callId: "1", status: "in_progress", call: {} });
  calls.note(call("2", "in_progress"));
  assert.equal(state.paused, 1);
  calls.note({ type: "tool_update", callId: "1", status: "completed", call: {} });
  assert.equal(state.paused, 1);
  calls.note({ type: "tool_update", callId: "2", status: "failed", call: {} });
  assert.equal(state.paused, 0);
});

test("a call that never ends stops counting as life after its budget", async () => {
  const { state, pause } = pauses();
  const calls = new OpenCalls({ pause, budgetMs: 30 });
  calls.note(call("1", "in_progress"));
  assert.equal(state.paused, 1);
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(state.paused, 0);
  calls.close();
});
