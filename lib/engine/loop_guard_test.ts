import assert from "node:assert/strict";
import { test } from "node:test";
import { LoopGuard, MAX_WRONG, repetitionWarning, STOP_AT } from "./loop_guard.ts";

const call = (name: string, args: string) => ({ id: crypto.randomUUID(), name, arguments: args });

/** Notes calls written as `name arguments`; returns how often each was made. */
function note(guard: LoopGuard, ...calls: string[]): number[] {
  return calls.map((words) => {
    const [name = "", args = ""] = words.split(" ");
    return guard.note(call(name, args));
  });
}

test("the same call counts up, however its arguments are written, and the fifth ends the turn", () => {
  const guard = new LoopGuard();
  const same = ['{"a":1,"b":[2]}', '{ "b": [2], "a": 1 }', '{"a":1,"b":[2]}', '{"b":[2],"a":1}'];
  assert.deepEqual(same.map((args) => guard.note(call("ls", args))), [1, 2, 3, 4]);
  assert.equal(guard.looping, false);
  assert.equal(guard.note(call("ls", '{"a":1,"b":[2]}')), STOP_AT);
  assert.equal(guard.looping, true);
});

test("no arguments and an empty object are the same, other arguments are not", () => {
  const guard = new LoopGuard();
  assert.deepEqual(note(guard, "ls", "ls {}", "ls broken{", "ls broken{"), [1, 2, 1, 2]);
});

test("calls that come in turn are a circle, and a call that is new is progress", () => {
  const circle = new LoopGuard();
  note(circle, "a", "b", "a", "b", "a", "b", "a", "b", "a", "b");
  assert.equal(circle.looping, true);

  const work = new LoopGuard();
  for (let n = 0; n < 20; n++) assert.equal(note(work, `edit {"n":${n}}`, "test").at(-1), 1);
  assert.equal(work.looping, false);
});

test("calls that cannot run end the turn after ten in a row, though each is another one", () => {
  const guard = new LoopGuard();
  for (let n = 1; n < MAX_WRONG; n++) guard.ran(false);
  guard.ran(true);
  for (let n = 1; n < MAX_WRONG; n++) guard.ran(false);
  assert.equal(guard.looping, false);
  guard.ran(false);
  assert.equal(guard.looping, true);
});

test("what is remembered of a long turn is bounded, and the last calls are known", () => {
  const guard = new LoopGuard();
  for (let n = 0; n < 5000; n++) note(guard, `write {"n":${n}}`);
  assert.deepEqual(note(guard, 'write {"n":4999}', 'write {"n":0}'), [2, 1]);
});

test("the warning begins with the third time and names the tool and the number", () => {
  assert.equal(repetitionWarning("bash", 2), "");
  assert.match(repetitionWarning("bash", 3), /call number 3 of bash with the same arguments; the/);
  assert.match(repetitionWarning("bash", 5), /call number 5/);
});
