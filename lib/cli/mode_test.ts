import { strict as assert } from "node:assert";
import { test } from "node:test";
import { createLifetime } from "./mode.ts";

test("createLifetime() ends what was added, the last first, once, whatever fails", async () => {
  const ended: string[] = [];
  const lifetime = createLifetime();
  const close = (name: string) => () => {
    ended.push(name);
    return name === "b" ? Promise.reject(new Error("no")) : Promise.resolve();
  };
  for (const name of ["a", "b", "c"]) lifetime.add(close(name));
  assert.equal(lifetime.signal.aborted, false);
  await Promise.all([lifetime.end(), lifetime.end()]);
  await lifetime.end();
  assert.deepEqual(ended, ["c", "b", "a"]);
  assert.equal(lifetime.signal.aborted, true);
});
