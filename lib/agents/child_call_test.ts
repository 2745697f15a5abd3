import assert from "node:assert/strict";
import { test } from "node:test";
import { wholeCall } from "./child_call.ts";
import type { ChildCallPart } from "./child_connection.ts";

/** What a call says of itself, and the name by which rules and grants know it. */
const NAMES: readonly (readonly [Omit<ChildCallPart, "id">, string])[] = [
  [{ title: "cat /etc/passwd", kind: "execute" }, "execute"],
  [{ title: "Edit a/b.ts", kind: "edit" }, "edit"],
  [{ title: "Ask somebody/something (now)" }, "Ask somebody%2Fsomething (now)"],
  [{ title: "x", kind: "execute", name: "riker/bash" }, "riker/bash"],
  [{}, "a tool call without a title"],
];

for (const [call, name] of NAMES) {
  test(`wholeCall() calls ${JSON.stringify(call)} ${name}`, () => {
    assert.equal(wholeCall({ id: "1", ...call }).name, name);
  });
}
