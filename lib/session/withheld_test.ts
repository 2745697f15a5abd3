import assert from "node:assert/strict";
import { test } from "node:test";
import { DELEGATION } from "../config/testing.ts";
import { withheldReason } from "./withheld.ts";

const reason = (name: string, depth: number, maxDepth = 2) =>
  withheldReason(name, {
    pool: { limit: "nobody is asked here" },
    config: { delegation: { ...DELEGATION, maxDepth } },
    depth,
  });

test("a tool of delegation is withheld for the depth only where the depth is reached", () => {
  for (const name of ["agent", "list_agents", "send_message", "wait_agent", "task_stop"]) {
    assert.match(reason(name, 2) ?? "", /ends after 2 \(agents\.maxDepth\)/u);
    assert.match(reason(name, 0, 0) ?? "", /agents\.maxDepth is 0/u);
    // It is not among the configured tools then.
    assert.equal(reason(name, 0), undefined);
  }
});

test("asking has its own reason, and a tool that nobody knows has none", () => {
  assert.equal(reason("ask_agent", 2), "nobody is asked here");
  assert.equal(reason("frobnicate", 2), undefined);
});
