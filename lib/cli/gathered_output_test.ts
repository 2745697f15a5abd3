import assert from "node:assert/strict";
import { test } from "node:test";
import { gatherOutput } from "./gathered_output.ts";

function recorder() {
  const writes: string[] = [];
  let told = () => {};
  const write = (name: string) => (text: string) => {
    writes.push(`${name} ${text}`);
    told();
  };
  const gathered = gatherOutput({ out: write("out"), err: write("err") });
  /** Settles at the next write. */
  const next = () => new Promise<void>((resolve) => told = resolve);
  return { ...gathered, writes, next };
}

test("the first piece is written at once, the next ones together, in order across the streams", async () => {
  const { out, err, flush, writes, next } = recorder();
  out("a");
  assert.deepEqual(writes, ["out a"]);
  out("b");
  out("c");
  err("d");
  err("e");
  out("f");
  assert.deepEqual(writes, ["out a", "out bc", "err de"]);
  await next();
  assert.deepEqual(writes, ["out a", "out bc", "err de", "out f"]);
  flush();
});

test("flush() writes at once, and once", () => {
  const { out, flush, writes } = recorder();
  out("last ");
  out("words");
  flush();
  flush();
  assert.deepEqual(writes, ["out last ", "out words"]);
});

test("what is held back is bounded", () => {
  const { out, flush, writes } = recorder();
  for (let n = 0; n < 100; n++) out("x".repeat(1000));
  assert.deepEqual(writes.map((text) => text.length), [1004, 66_004]);
  flush();
});
