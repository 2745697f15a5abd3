import { strict as assert } from "node:assert";
import { test } from "node:test";
import { setImmediate } from "node:timers";
import { Deliveries } from "./deliveries.ts";
import { WorkingSession } from "./testing.ts";

const forever = new AbortController().signal;

test("Deliveries says when the model should be told, and when nothing is left to tell", async () => {
  const session = new WorkingSession();
  let due = 0;
  const work = new Deliveries(session, { onDue: () => due++ });
  assert.ok(work.over && !work.due);
  session.set(2, false);
  assert.ok(!work.over && !work.due);
  session.set(1, true);
  assert.ok(!work.over && work.due);
  assert.equal(due, 1);
  assert.equal((await work.deliver(forever))?.end.kind, "answered");
  assert.ok(!work.over && !work.due);
  session.set(0, true);
  assert.ok(!work.over && work.due);
  await work.deliver(forever);
  assert.ok(work.over);
  work.close();
  assert.equal(session.watchers, 0);
});

test("Deliveries waits for a change, an abort, and not at all when there is nothing to wait for", async () => {
  const session = new WorkingSession();
  const work = new Deliveries(session);
  await work.change(forever);
  session.set(2, false);
  let waits = true;
  const change = work.change(forever).then(() => waits = false);
  session.set(1, false);
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(waits);
  session.set(1, true);
  await change;
  await work.deliver(forever);
  const end = work.change(forever);
  session.set(0, false);
  await end;
  session.set(1, false);
  const cancel = new AbortController();
  const aborted = work.change(cancel.signal);
  cancel.abort();
  await aborted;
  work.close();
});

test("Deliveries tells once more only when something else ended, where a turn failed to tell", async () => {
  const session = new WorkingSession();
  const work = new Deliveries(session);
  session.onTurn = () => {
    // What could not be told is still to be told.
    session.set(1, true);
    return Promise.resolve({ end: { kind: "failed", reason: "no model" } });
  };
  session.set(1, true);
  await work.deliver(forever);
  assert.ok(!work.due);
  session.set(0, true);
  assert.ok(work.due);
  work.close();
});
