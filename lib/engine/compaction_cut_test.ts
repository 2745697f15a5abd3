import assert from "node:assert/strict";
import { test } from "node:test";
import type { Message } from "../model/types.ts";
import { chooseCut, summaryLength } from "./compaction_cut.ts";
import { summaryAndRequest, summaryPair } from "./compaction_words.ts";
import { REPAIR_MARK } from "./structured_prompt.ts";

const user = (text: string): Message & { role: "user" } => ({ role: "user", text });
const answer = (text: string): Message => ({ role: "assistant", text });
const calls = (...ids: string[]): Message => ({
  role: "assistant",
  text: "",
  toolCalls: ids.map((id) => ({ id, name: "ls", arguments: "{}" })),
});
const result = (callId: string): Message => ({ role: "tool", callId, name: "ls", text: "x" });
const round = (id: string) => [calls(id), result(id)];

/** A token for each message. */
const cut = (messages: readonly Message[], keepTokens: number) =>
  chooseCut(messages, { keepTokens, tokensOf: (some) => some.length });

const three = [user("a"), answer("A"), user("b"), answer("B"), user("c"), answer("C")];

test("chooseCut() keeps as many whole turns as fit, and nothing where none does", () => {
  assert.deepEqual(cut(three, 0), { at: 6 });
  assert.deepEqual(cut(three, 1), { at: 6 });
  assert.deepEqual(cut(three, 2), { at: 4 });
  assert.deepEqual(cut(three, 3), { at: 4 });
  assert.deepEqual(cut(three, 4), { at: 2 });
});

test("chooseCut() leaves something to summarise, however much may be kept", () => {
  assert.deepEqual(cut(three, 100), { at: 2 });
  assert.deepEqual(cut(three.slice(0, 2), 100), { at: 2 });
});

test("chooseCut() finds nothing in an empty conversation, a first question, a summary alone", () => {
  assert.equal(cut([], 10), undefined);
  assert.equal(cut([user("a")], 10), undefined);
  assert.equal(cut(summaryPair("s"), 10), undefined);
  assert.equal(cut([...summaryPair("s"), user("a")], 10), undefined);
});

test("chooseCut() keeps a question that waits for its answer, however large", () => {
  assert.deepEqual(cut([...three, user("d")], 0), { at: 6 });
});

test("chooseCut() divides a turn that goes on between its rounds of calls", () => {
  const open = [user("a"), answer("A"), user("b"), ...round("1"), ...round("2"), ...round("3")];
  assert.deepEqual(cut(open, 0), { at: 7, request: 2 });
  assert.deepEqual(cut(open, 4), { at: 5, request: 2 });
  // The first round belongs to its question.
  assert.deepEqual(cut(open, 6), { at: 5, request: 2 });
  assert.deepEqual(cut(open, 7), { at: 2 });
});

test("chooseCut() never separates several calls from their results", () => {
  const open = [user("a"), calls("1", "2"), result("1"), result("2"), calls("3", "4")];
  const whole = [...open, result("3"), result("4")];
  assert.deepEqual(cut(whole, 0), { at: 4, request: 0 });
});

test("chooseCut() does not take what mm said about a wrong answer for a question", () => {
  const repaired = [...three, user("d"), answer("no JSON"), user(REPAIR_MARK)];
  assert.deepEqual(cut(repaired, 0), { at: 6 });
});

test("summaryLength() tells a summary with its own answer from one that begins a turn", () => {
  assert.equal(summaryLength(three), 0);
  assert.equal(summaryLength([...summaryPair("s"), user("a")]), 2);
  const going = [summaryAndRequest("s", user("Do it")), ...round("1")];
  assert.equal(summaryLength(going), 1);
  // The summary alone is not summarised again, a round behind it is.
  assert.equal(cut(going, 0), undefined);
  assert.deepEqual(cut([...going, ...round("2")], 0), { at: 3, request: 0 });
});

test("a turn that is compressed twice keeps its request once", () => {
  const once = summaryAndRequest("first", user("Do it"));
  const twice = summaryAndRequest("second", once as Message & { role: "user" });
  assert.match(twice.text, /second\n\n\[The request .*\]\n\nDo it$/u);
  assert.equal(twice.text.split("[The request").length, 2);
  assert.doesNotMatch(twice.text, /first/u);
});

test("whatever is cut: roles alternate behind the summary, and each call keeps its result", () => {
  let state = 7;
  const random = (n: number) => (state = (state * 48271) % 2147483647) % n;
  for (let run = 0; run < 2000; run++) {
    const messages: Message[] = random(4) === 0 ? summaryPair("s") : [];
    let id = 0;
    for (let turns = random(5); turns >= 0; turns--) {
      messages.push(user(`q${turns}`));
      for (let rounds = random(4); rounds > 0; rounds--) {
        const ids = Array.from({ length: 1 + random(3) }, () => String(id++));
        messages.push(calls(...ids), ...ids.map(result));
      }
      if (turns > 0 || random(2) === 0) messages.push(answer("a"));
    }
    const chosen = cut(messages, random(12));
    if (chosen === undefined) continue;
    const request = chosen.request === undefined ? undefined : messages[chosen.request];
    const next = [
      ...(request?.role === "user" ? [summaryAndRequest("s", request)] : summaryPair("s")),
      ...messages.slice(chosen.at),
    ];
    assert.ok(inOrder(next), JSON.stringify([messages, chosen]));
  }
});

function inOrder(messages: readonly Message[]): boolean {
  let open: string[] = [];
  let previous = "assistant";
  for (const message of messages) {
    if (message.role === "tool") {
      if (open.shift() !== message.callId) return false;
    } else {
      const expected = message.role === "user" ? ["assistant"] : ["user", "tool"];
      if (open.length > 0 || !expected.includes(previous)) return false;
      open = message.role === "assistant" ? (message.toolCalls ?? []).map((call) => call.id) : [];
    }
    previous = message.role;
  }
  return open.length === 0;
}
