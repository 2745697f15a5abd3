import assert from "node:assert/strict";
import { test } from "node:test";
import type { SavedMessage } from "./record.ts";
import { INTERRUPTED, LOST_QUESTION, mendHistory } from "./repair_history.ts";

const user = (text: string): SavedMessage => ({ role: "user", text });
const answer = (text: string): SavedMessage => ({ role: "assistant", text });
const calls = (...ids: string[]): SavedMessage => ({
  role: "assistant",
  text: "",
  toolCalls: ids.map((id) => ({ id, name: "bash", arguments: "{}" })),
});
const result = (callId: string, text = "done"): SavedMessage => ({
  role: "tool",
  callId,
  name: "bash",
  text,
});

/** Says what a strict template would not accept. */
function faultOf(messages: readonly SavedMessage[]): string | undefined {
  let open: string[] = [];
  let last = "nothing";
  for (const [at, message] of messages.entries()) {
    if (message.role === "tool") {
      if (open.shift() !== message.callId) return `${at}: a result without its call`;
    } else if (open.length > 0) {
      return `${at}: calls without results`;
    } else if (message.role === "user") {
      if (last === "user" || last === "tool") return `${at}: user after ${last}`;
    } else {
      if (last !== "user" && last !== "tool") return `${at}: assistant after ${last}`;
      open = (message.toolCalls ?? []).map((call) => call.id);
      if (open.length === 0 && message.text === "") return `${at}: empty`;
    }
    last = message.role;
  }
  return messages.length === 0 || (last === "assistant" && open.length === 0)
    ? undefined
    : `the end: ${last}`;
}

test("a whole history is left as it is", () => {
  const whole = [
    user("a"),
    calls("1", "2"),
    result("1"),
    result("2"),
    answer("b"),
    user("c"),
    answer("d"),
  ];
  assert.deepEqual(mendHistory(whole), whole);
  assert.deepEqual(mendHistory([]), []);
});

test("a call without a result gets one that says interrupted, and the turn an end", () => {
  assert.deepEqual(mendHistory([user("a"), calls("1", "2"), result("1")]), [
    user("a"),
    calls("1", "2"),
    result("1"),
    result("2", INTERRUPTED),
    answer(INTERRUPTED),
  ]);
});

test("a question without an answer is closed, at the end and in the middle", () => {
  assert.deepEqual(mendHistory([user("a"), user("b")]), [
    user("a"),
    answer(INTERRUPTED),
    user("b"),
    answer(INTERRUPTED),
  ]);
});

test("an answer whose question was lost gets one that says so", () => {
  assert.deepEqual(mendHistory([answer("a"), user("b"), answer("c")])[0], user(LOST_QUESTION));
});

test("a result that answers no call is left out", () => {
  const whole = [user("a"), calls("1"), result("1"), answer("b")];
  assert.deepEqual(
    mendHistory([user("a"), calls("1"), result("9"), result("1"), answer("b")]),
    whole,
  );
  assert.deepEqual(mendHistory([result("1"), user("a"), answer("b")]), [user("a"), answer("b")]);
});

test("whatever is missing of a history, or stands in it twice, the rest is one that templates accept", () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * below);
  };
  for (let round = 0; round < 3000; round++) {
    const history: SavedMessage[] = [];
    for (let turn = 0; turn < 1 + random(4); turn++) {
      history.push(user(`question ${turn}`));
      for (let step = 0; step < random(3); step++) {
        const ids = Array.from({ length: 1 + random(3) }, (_, at) => `${turn}-${step}-${at}`);
        history.push(calls(...ids), ...ids.map((id) => result(id)));
      }
      history.push(answer(`answer ${turn}`));
    }
    assert.equal(faultOf(history), undefined);
    const damaged = history.flatMap((message) => {
      const fate = random(10);
      return fate < 2 ? [] : fate === 2 ? [message, message] : [message];
    });
    const mended = mendHistory(damaged);
    assert.equal(faultOf(mended), undefined, JSON.stringify({ damaged, mended }));
    assert.deepEqual(mendHistory(mended), mended);
  }
});
