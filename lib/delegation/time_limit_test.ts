import assert from "node:assert/strict";
import { test } from "node:test";
import { timeLimit } from "./time_limit.ts";

const open = () => new AbortController();

/** Settles when a signal is aborted. */
function aborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) resolve();
  signal.addEventListener("abort", () => resolve(), { once: true });
  return promise;
}

test("a run that takes longer than its definition allows is ended, and says so", async () => {
  const limit = timeLimit({ ms: 10, signal: open().signal });
  assert.equal(limit.end, undefined);
  await aborted(limit.signal);
  assert.deepEqual(limit.end, {
    kind: "failed",
    reason: "it took longer than 10 ms, the most its definition allows",
  });
  limit.stop();
});

test("a run that is stopped before is cancelled, not too late", async () => {
  const asked = open();
  const limit = timeLimit({ ms: 5, signal: asked.signal });
  asked.abort();
  assert.ok(limit.signal.aborted);
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(limit.end, undefined);
  limit.stop();
});

test("a run that ends in time has no limit any more", async () => {
  const limit = timeLimit({ ms: 5, signal: open().signal });
  limit.stop();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.ok(!limit.signal.aborted);
  assert.equal(limit.end, undefined);
});

test("without a limit the signal is the one that was given", () => {
  const { signal } = open();
  const limit = timeLimit({ ms: undefined, signal });
  assert.equal(limit.signal, signal);
  assert.equal(limit.end, undefined);
  limit.stop();
});
