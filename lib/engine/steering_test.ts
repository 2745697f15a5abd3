import assert from "node:assert/strict";
import { test } from "node:test";
import { Steering } from "./steering.ts";

const framed = (...texts: string[]) =>
  texts.map((text) => `[message from the agent that started you]\n${text}`).join("\n\n");

test("messages are taken in while a turn runs, and taken out once, in order", () => {
  const steering = new Steering();
  assert.equal(steering.offer("before"), false);
  assert.equal(steering.begin(), undefined);
  assert.equal(steering.take(), undefined);
  assert.equal(steering.offer("one"), true);
  assert.equal(steering.offer("two"), true);
  assert.equal(steering.take(), framed("one", "two"));
  assert.equal(steering.take(), undefined);
  steering.end();
  assert.equal(steering.offer("after"), false);
  assert.equal(steering.begin(), undefined);
});

test("what a turn was told and did not read begins the next one, before what comes then", () => {
  const steering = new Steering();
  steering.begin();
  steering.offer("one");
  steering.end();
  assert.equal(steering.take(), undefined);
  assert.equal(steering.begin(), framed("one"));
  steering.offer("two");
  assert.equal(steering.take(), framed("two"));
  steering.end();
  steering.end();
  assert.equal(steering.begin(), undefined);
});

test("another conversation knows nothing of what was said in this one", () => {
  const steering = new Steering();
  steering.begin();
  steering.offer("one");
  steering.end();
  steering.clear();
  assert.equal(steering.begin(), undefined);
});
