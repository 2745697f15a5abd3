import { strict as assert } from "node:assert";
import { test } from "node:test";
import { createInterrupts } from "./interrupt.ts";

test("createInterrupts() tells a second interrupt within two seconds from a first one", () => {
  const seen: string[] = [];
  let now = 0;
  const interrupt = createInterrupts({
    onFirst: () => void seen.push("first"),
    onSecond: () => void seen.push("second"),
    now: () => now,
  });
  for (const at of [0, 3000, 4000, 4500]) {
    now = at;
    interrupt();
  }
  assert.deepEqual(seen, ["first", "first", "second", "first"]);
});
