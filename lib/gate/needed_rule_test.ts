import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { ToolCallView } from "../base/tool_call.ts";
import { Gate } from "./gate.ts";
import { neededRule } from "./needed_rule.ts";

const cwd = tmpdir();

function bobs(input: unknown, more: Partial<ToolCallView> = {}): ToolCallView {
  return { id: "1", name: "bob/bash", title: "a title", kind: "execute", input, ...more };
}

async function allowed(call: ToolCallView, allow: string): Promise<boolean> {
  const gate = new Gate({
    rules: { allow: [allow], ask: [], deny: [] },
    honourAllowRules: true,
    askPermission: () => Promise.resolve({ kind: "unavailable", reason: "nobody" }),
  });
  const { signal } = new AbortController();
  const decision = await gate.decide(
    { view: call, agent: "bob", gated: true, yolo: false, cwd },
    { signal },
  );
  return decision.allowed;
}

test("neededRule() names a rule that lets the very call run", async () => {
  const edit = { name: "bob/edit", kind: "edit", locations: [{ path: join(cwd, "no-such-a") }] };
  for (
    const [call, rule] of [
      [bobs({ command: "git log" }), "bob/bash(git log)"],
      [bobs({ command: "make; echo (ok) > x*" }), "bob/bash(make; echo (ok) > x*)"],
      [bobs({ command: "a\nb" }), "bob/bash"],
      [bobs({ command: "x".repeat(101) }), "bob/bash"],
      [bobs({}, edit as Partial<ToolCallView>), "bob/edit(no-such-a)"],
    ] as const
  ) {
    assert.equal(await neededRule({ call, cwd }), rule);
    assert.ok(await allowed(call, rule), rule);
  }
  assert.ok(!await allowed(bobs({ command: "git push" }), "bob/bash(git log)"));
});
