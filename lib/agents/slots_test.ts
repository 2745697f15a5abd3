import assert from "node:assert/strict";
import { test } from "node:test";
import { Slots } from "./slots.ts";

const NEVER = new AbortController().signal;

test("slots are handed out up to their number and then in the order of asking", async () => {
  const slots = new Slots(2);
  const first = await slots.take({ signal: NEVER });
  await slots.take({ signal: NEVER });
  assert.ok(slots.full);
  const order: string[] = [];
  const third = slots.take({ signal: NEVER }).then((release) => (order.push("third"), release));
  const fourth = slots.take({ signal: NEVER }).then((release) => (order.push("fourth"), release));
  assert.equal(slots.waiting, 2);
  first();
  first();
  const release = await third;
  assert.deepEqual(order, ["third"]);
  release();
  await fourth;
  assert.deepEqual(order, ["third", "fourth"]);
});

test("leaving the queue takes no slot", async () => {
  const slots = new Slots(1);
  const release = await slots.take({ signal: NEVER });
  const controller = new AbortController();
  const waiting = slots.take({ signal: controller.signal });
  controller.abort(new Error("left"));
  await assert.rejects(waiting, /left/);
  assert.equal(slots.waiting, 0);
  release();
  assert.ok(!slots.full);
  await assert.rejects(slots.take({ signal: controller.signal }), /left/);
  assert.ok(!slots.full);
});
