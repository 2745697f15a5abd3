import assert from "node:assert/strict";
import { test } from "node:test";
import { Watchdog } from "./watchdog.ts";

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

test("the watchdog fires once after the longest silence", async () => {
  let fired = 0;
  const started = performance.now();
  await new Promise<void>((resolve) => {
    new Watchdog({ timeoutMs: 60, onTimeout: () => (fired++, resolve()) });
  });
  assert.ok(performance.now() - started >= 59);
  await sleep(150);
  assert.equal(fired, 1);
});

test("a sign of life puts the end off", async () => {
  let fired = false;
  const dog = new Watchdog({ timeoutMs: 400, onTimeout: () => (fired = true) });
  for (let i = 0; i < 8; i++) {
    await sleep(100);
    dog.touch();
  }
  assert.equal(fired, false);
  dog.stop();
});

test("time does not count while paused, and pauses nest", async () => {
  let fired = false;
  const dog = new Watchdog({ timeoutMs: 200, onTimeout: () => (fired = true) });
  const one = dog.pause();
  const two = dog.pause();
  await sleep(300);
  one();
  one();
  await sleep(300);
  assert.equal(fired, false);
  two();
  await new Promise<void>((resolve) => {
    const poll = setInterval(() => fired && (clearInterval(poll), resolve()), 10);
  });
});
