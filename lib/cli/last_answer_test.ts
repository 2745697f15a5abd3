import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { EngineEvent } from "../engine/events.ts";
import { createLastAnswer } from "./last_answer.ts";

const task = {
  type: "task",
  taskId: "task-1f09ab",
  agent: "explore",
  description: "Look",
} as const;
const said = (text: string, messageId = "m") => ({ type: "text", messageId, text }) as const;

function answer() {
  const shown: EngineEvent[] = [];
  const aside: string[] = [];
  const last = createLastAnswer({
    show: (event) => void shown.push(event),
    aside: (text) => void aside.push(text),
  });
  return { last, shown, aside };
}

test("createLastAnswer() lets text pass as it comes while nothing runs in the background", () => {
  const { last, shown, aside } = answer();
  last.event(said("Hel"));
  last.event({ type: "alive" });
  last.event(said("lo"));
  assert.deepEqual(shown, [said("Hel"), { type: "alive" }, said("lo")]);
  last.end();
  assert.equal(shown.length, 3);
  assert.deepEqual(aside, []);
});

test("createLastAnswer() keeps apart what is said by turns that another one follows", () => {
  const { last, shown, aside } = answer();
  const running = { ...task, state: "running" } as const;
  const ended = { ...task, state: "ended", end: { kind: "answered" } } as const;
  last.event(running);
  last.event(said("Started "));
  last.event(said("it.\n"));
  last.event(said("I wait.", "n"));
  last.event(ended);
  assert.deepEqual(shown, [running, ended]);
  last.followed();
  assert.deepEqual(aside, ["Started it.\nI wait."]);
  last.event(said("It is found."));
  last.end();
  last.end();
  assert.deepEqual(shown, [running, ended, said("It is found.")]);
  last.followed();
  assert.equal(aside.length, 1);
});

test("createLastAnswer() holds back what is said of a run that is there before its first event", () => {
  const shown: EngineEvent[] = [];
  const aside: string[] = [];
  let active = false;
  const last = createLastAnswer({
    show: (event) => void shown.push(event),
    aside: (text) => void aside.push(text),
    working: () => active,
  });
  active = true;
  last.event(said("task-1f09ab is at work on it.\n"));
  last.event({ ...task, state: "running" });
  active = false;
  last.followed();
  last.event(said("It is done."));
  last.end();
  assert.deepEqual(aside, ["task-1f09ab is at work on it."]);
  assert.deepEqual(shown.at(-1), said("It is done."));
  assert.equal(shown.length, 2);
});
