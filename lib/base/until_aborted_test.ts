import assert from "node:assert/strict";
import { test } from "node:test";
import { settledOrAborted, untilAborted } from "./until_aborted.ts";

const NEVER = new Promise<string>(() => {});
const BROKEN = new Error("broken");
const ENOUGH = new Error("enough");

test("what is there before the abort is returned, and its failure thrown", async () => {
  const { signal } = new AbortController();
  assert.equal(await untilAborted(Promise.resolve("here"), signal), "here");
  await assert.rejects(untilAborted(Promise.reject(BROKEN), signal), BROKEN);
  await settledOrAborted(Promise.resolve("here"), signal);
  await assert.rejects(settledOrAborted(Promise.reject(BROKEN), signal), BROKEN);
});

test("an abort ends the waiting, for one of the two with its reason", async () => {
  const controller = new AbortController();
  const [waiting, settling] = [
    untilAborted(NEVER, controller.signal),
    settledOrAborted(NEVER, controller.signal),
  ];
  controller.abort(ENOUGH);
  await assert.rejects(waiting, ENOUGH);
  await settling;
});

test("where it was aborted before, nothing is waited for and a failure is nobody's", async () => {
  const signal = AbortSignal.abort(ENOUGH);
  await assert.rejects(untilAborted(Promise.resolve("here"), signal), ENOUGH);
  await assert.rejects(untilAborted(NEVER, signal), ENOUGH);
  // A rejection that nobody looks at ends the whole test run.
  await assert.rejects(untilAborted(Promise.reject(BROKEN), signal), ENOUGH);
  await settledOrAborted(Promise.reject(BROKEN), signal);
  await settledOrAborted(NEVER, signal);
});
