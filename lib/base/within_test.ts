import assert from "node:assert/strict";
import { test } from "node:test";
import { within } from "./within.ts";

const NEVER = new Promise<string>(() => {});

test("what is there in time is returned, and its failure thrown", async () => {
  assert.equal(await within(Promise.resolve("here"), 60_000), "here");
  const reason = new Error("broken");
  await assert.rejects(within(Promise.reject(reason), 60_000), reason);
});

test("nothing is returned when the time is over", async () => {
  assert.equal(await within(NEVER, 0), undefined);
});
