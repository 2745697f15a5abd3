import assert from "node:assert/strict";
import { test } from "node:test";
import { childCallOf } from "./child_updates.ts";

/** What a call says of itself, and the name by which rules and grants know it. */
const NAMES: readonly (readonly [Record<string, unknown>, string])[] = [
  [{ title: "cat /etc/passwd", kind: "execute" }, "execute"],
  [{ title: "Edit a/b.ts", kind: "edit" }, "edit"],
  [{ title: "Ask somebody/something (now)" }, "Ask_somebody_something_now_"],
  [{ title: "x", kind: "execute", name: "riker/bash" }, "riker/bash"],
  [{ title: "x", _meta: { claudeCode: { toolName: "Bash" } } }, "Bash"],
  [{ title: "x", name: "bash\u0007 rm" }, "bash_rm"],
  [{}, "a_tool_call_without_a_title"],
];

for (const [call, name] of NAMES) {
  test(`an agent's call ${JSON.stringify(call)} is called ${name}`, () => {
    assert.equal(childCallOf({ toolCallId: "1", ...call })?.name, name);
  });
}
