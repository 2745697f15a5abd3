import assert from "node:assert/strict";
import { test } from "node:test";
import type { ModelFacts } from "../model/types.ts";
import { parallelRuns, RunSlots } from "./run_slots.ts";

const NEVER = new AbortController().signal;
const LOCAL = "http://127.0.0.1:8080/v1";

const model = (facts: ModelFacts | Error = {}, url = LOCAL) => ({
  url,
  facts: () => facts instanceof Error ? Promise.reject(facts) : Promise.resolve(facts),
});

test("a number in the configuration is how many runs work at the same time", async () => {
  assert.equal(await parallelRuns({ maxParallel: 3, model: model({ slots: 8 }) }), 3);
});

test("auto is as many as the server says it works on", async () => {
  assert.equal(await parallelRuns({ maxParallel: "auto", model: model({ slots: 4 }) }), 4);
  assert.equal(
    await parallelRuns({
      maxParallel: "auto",
      model: model({ slots: 2 }, "https://models.example"),
    }),
    2,
  );
});

test("a near server that does not say works on one run, one far away on several", async () => {
  const auto = (url: string, facts: ModelFacts | Error = {}) =>
    parallelRuns({ maxParallel: "auto", model: model(facts, url) });
  for (
    const host of ["localhost", "127.0.0.1", "10.1.2.3", "192.168.0.5", "172.16.0.1", "172.31.9.9"]
      .concat(["169.254.1.1", "gpu", "gpu.local", "gpu.lan", "[::1]", "[fd12::1]", "[fe80::1]"])
  ) {
    assert.equal(await auto(`http://${host}:8080/v1`), 1, host);
  }
  assert.equal(await auto(LOCAL, new Error("no answer")), 1);
  for (const host of ["models.example.com", "172.32.0.1", "11.0.0.1", "[2001:db8::1]"]) {
    assert.equal(await auto(`https://${host}/v1`), 8, host);
  }
});

test("with one slot a run begins when the one before it gave its slot back", async () => {
  const slots = new RunSlots({ maxParallel: 1, model: model() });
  const queued: number[] = [];
  const take = () => slots.take({ signal: NEVER, onQueued: (before) => queued.push(before) });
  const first = await take();
  const order: string[] = [];
  const second = take().then((release) => (order.push("second"), release));
  const third = take().then((release) => (order.push("third"), release));
  await Promise.resolve();
  await Promise.resolve();
  assert.deepEqual([queued, order, slots.waiting], [[0, 1], [], 2]);
  first();
  first();
  (await second)();
  (await third)();
  assert.deepEqual(order, ["second", "third"]);
  assert.equal(slots.waiting, 0);
  (await take())();
  assert.deepEqual(queued, [0, 1]);
});

test("a run that is stopped while it waits leaves the row, and takes nothing", async () => {
  const slots = new RunSlots({ maxParallel: 1, model: model() });
  const first = await slots.take({ signal: NEVER, onQueued: () => {} });
  const stop = new AbortController();
  const waiting = slots.take({ signal: stop.signal, onQueued: () => {} });
  stop.abort(new Error("stopped"));
  await assert.rejects(waiting, /stopped/u);
  assert.equal(slots.waiting, 0);
  first();
  (await slots.take({ signal: NEVER, onQueued: () => assert.fail("it is free") }))();
});

test("a run that is stopped before it has a slot takes none", async () => {
  const slots = new RunSlots({ maxParallel: 1, model: model() });
  const signal = AbortSignal.abort(new Error("stopped"));
  await assert.rejects(slots.take({ signal, onQueued: () => {} }), /stopped/u);
  (await slots.take({ signal: NEVER, onQueued: () => assert.fail("it is free") }))();
});
