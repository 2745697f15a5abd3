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

test("the clock stands still while somebody else is waited for, and goes on with what was left", async () => {
  const limit = timeLimit({ ms: 40, signal: open().signal });
  const first = limit.pause();
  const second = limit.pause();
  await new Promise((resolve) => setTimeout(resolve, 80));
  first();
  first();
  await new Promise((resolve) => setTimeout(resolve, 40));
  assert.ok(!limit.signal.aborted, "one of two who waited is still waited for");
  assert.ok(limit.elapsedMs < 40, `${limit.elapsedMs}`);
  second();
  await aborted(limit.signal);
  assert.equal(limit.end?.kind, "failed");
  limit.stop();
});

test("the time of a run is taken without a limit too, and no longer than it runs", async () => {
  const limit = timeLimit({ ms: undefined, signal: open().signal });
  await new Promise((resolve) => setTimeout(resolve, 10));
  const resume = limit.pause();
  limit.stop();
  resume();
  const { elapsedMs } = limit;
  assert.ok(elapsedMs > 0, `${elapsedMs}`);
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(limit.elapsedMs, elapsedMs);
});
