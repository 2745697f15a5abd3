import { strict as assert } from "node:assert";
import { test } from "node:test";
import { setImmediate } from "node:timers";
import type { End } from "../base/ends.ts";
import { finishTurns } from "./finish_turns.ts";
import { WorkingSession } from "./testing.ts";

/** Runs the turns of a session; `log` has what a front end was told. */
function stage() {
  const session = new WorkingSession();
  const cancel = new AbortController();
  const log: string[] = [];
  const start = (): Promise<End> =>
    finishTurns({
      session,
      text: "go",
      signal: cancel.signal,
      onTurn: ({ kind }) => void log.push(kind),
      onFollowed: () => void log.push("followed"),
      onWait: (active) => void log.push(`waits for ${active}`),
    });
  const settled = async () => {
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  return { session, cancel, log, start, settled };
}

test("finishTurns() runs one turn where nothing was started in the background", async () => {
  const { session, log, start } = stage();
  assert.deepEqual(await start(), { kind: "answered" });
  assert.deepEqual(session.turns, ["go"]);
  assert.deepEqual(log, ["answered"]);
  assert.equal(session.watchers, 0);
});

test("finishTurns() waits for what was started, and ends as the last turn did", async () => {
  const { session, log, start, settled } = stage();
  session.onTurn = (text) => {
    if (text === "go") session.set(2, false);
    return Promise.resolve(
      session.turns.length === 3 ? { end: { kind: "incomplete", limit: "turns" } } : {},
    );
  };
  const end = start();
  await settled();
  session.set(1, true);
  await settled();
  session.set(0, true);
  assert.deepEqual(await end, { kind: "incomplete", limit: "turns" });
  assert.deepEqual(session.turns, ["go", "[told]", "[told]"]);
  assert.deepEqual(log, [
    "answered",
    "waits for 2",
    "followed",
    "answered",
    "followed",
    "incomplete",
  ]);
});

test("finishTurns() tells nothing where the model knows all already", async () => {
  const { session, log, start, settled } = stage();
  session.set(1, false);
  const end = start();
  await settled();
  session.set(0, false);
  assert.deepEqual(await end, { kind: "answered" });
  assert.deepEqual(log, ["answered", "waits for 1"]);
});

test("finishTurns() goes on after a turn that failed, while something runs, and not without end", async () => {
  const { session, start, settled } = stage();
  const failed: End = { kind: "failed", reason: "no model" };
  session.set(1, false);
  session.onTurn = (text) => {
    if (text === "[told]") session.set(0, true);
    return Promise.resolve({ end: failed });
  };
  const end = start();
  await settled();
  session.set(0, true);
  assert.deepEqual(await end, failed);
  assert.deepEqual(session.turns, ["go", "[told]"]);
});

test("finishTurns() is cancelled while it waits, and in a turn, and nothing follows", async () => {
  const waiting = stage();
  waiting.session.set(1, false);
  const end = waiting.start();
  await waiting.settled();
  waiting.cancel.abort();
  assert.deepEqual(await end, { kind: "cancelled" });
  assert.deepEqual(waiting.log, ["answered", "waits for 1", "cancelled"]);

  const running = stage();
  running.session.set(1, true);
  running.session.onTurn = () => {
    running.cancel.abort();
    return Promise.resolve();
  };
  assert.deepEqual(await running.start(), { kind: "cancelled" });
  assert.deepEqual(running.session.turns, ["go"]);
  assert.deepEqual(running.log, ["cancelled"]);
});

test("finishTurns() waits for nothing after /quit", async () => {
  const { session, log, start } = stage();
  session.set(1, true);
  session.onTurn = () => Promise.resolve({ action: "quit" });
  assert.deepEqual(await start(), { kind: "answered" });
  assert.deepEqual(log, ["answered"]);
});
