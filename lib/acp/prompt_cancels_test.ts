import assert from "node:assert/strict";
import { test } from "node:test";
import { PromptCancels } from "./prompt_cancels.ts";

function prompt(id: number | string, sessionId = "s") {
  return { jsonrpc: "2.0" as const, id, method: "session/prompt", params: { sessionId } };
}

function cancel(sessionId = "s") {
  return { jsonrpc: "2.0" as const, method: "session/cancel", params: { sessionId } };
}

test("a cancel ends the prompts of its session that came before it, and no later one", () => {
  const cancels = new PromptCancels();
  assert.equal(cancels.take(prompt(1)), false);
  assert.equal(cancels.take(prompt("other", "t")), false);
  assert.equal(cancels.take(cancel()), true);
  cancels.take(prompt(2));
  assert.equal(cancels.signalOf(1)?.aborted, true);
  assert.equal(cancels.signalOf(2)?.aborted, false);
  assert.equal(cancels.signalOf("other")?.aborted, false);
});

test("an answered prompt is forgotten, and its id may come again", () => {
  const cancels = new PromptCancels();
  cancels.take(prompt(1));
  cancels.note({ jsonrpc: "2.0", id: 1, result: {} });
  assert.equal(cancels.signalOf(1), undefined);
  cancels.take(cancel());
  cancels.take(prompt(1));
  assert.equal(cancels.signalOf(1)?.aborted, false);
});

test("what is no prompt and no cancel is left to the library", () => {
  const cancels = new PromptCancels();
  for (
    const message of [
      null,
      1,
      "text",
      [],
      {},
      { method: "session/cancel" },
      { method: "session/cancel", params: { sessionId: 1 } },
      { id: 1, method: "session/cancel", params: { sessionId: "s" } },
      { id: null, method: "session/prompt", params: { sessionId: "s" } },
    ]
  ) {
    assert.equal(cancels.take(message), false, JSON.stringify(message));
  }
});
