import assert from "node:assert/strict";
import { test } from "node:test";
import { summaryAndRequest, summaryPair } from "../engine/compaction_words.ts";
import { repairPrompt } from "../engine/structured_prompt.ts";
import type { Message } from "../model/types.ts";
import { forkHistory, readForkTurns } from "./fork_turns.ts";
import { notificationText } from "./notification.ts";

const user = (text: string) => ({ role: "user", text }) as const;
const answer = (text: string): Message => ({ role: "assistant", text });
const round = (id: string): Message[] => [
  { role: "assistant", text: "", toolCalls: [{ id, name: "read", arguments: "{}" }] },
  { role: "tool", callId: id, name: "read", text: `read ${id}` },
];
const system: Message = { role: "system", text: "You are mm." };
const notification = notificationText([{
  taskId: "explore-1",
  round: 1,
  agent: "explore",
  description: "Look",
  status: "completed",
  result: "Found it.",
  toolCalls: 1,
  durationMs: 1000,
}], { remaining: 0 });

test("readForkTurns() takes all, and positive whole numbers written as text", () => {
  assert.deepEqual(readForkTurns(undefined), { turns: "all" });
  assert.deepEqual(readForkTurns("all"), { turns: "all" });
  assert.deepEqual(readForkTurns("1"), { turns: 1 });
  assert.deepEqual(readForkTurns("250"), { turns: 250 });
});

for (
  const value of [3, "0", "-1", "01", " 3", "3 ", "1.5", "3 turns", "All", "", "9999999", null, [
    "3",
  ], true]
) {
  test(`readForkTurns() refuses ${JSON.stringify(value)} and says what to write`, () => {
    const read = readForkTurns(value);
    assert.ok("error" in read);
    assert.match(read.error, /^fork_turns is .*; write "all", or the number of turns as text/u);
  });
}

test("forkHistory() gives the whole conversation without the system message, a summary included", () => {
  const messages = [
    system,
    ...summaryPair("Earlier."),
    user("Two"),
    ...round("a"),
    answer("Done."),
  ];
  assert.deepEqual(forkHistory(messages, "all"), messages.slice(1));
});

test("forkHistory() begins with the Nth last turn of the person, and with the first where there are fewer", () => {
  const one = [user("One"), ...round("a"), answer("First.")];
  const two = [user("Two"), answer("Second.")];
  const three = [user("Three"), ...round("b"), ...round("c")];
  const messages = [system, ...one, ...two, ...three];
  assert.deepEqual(forkHistory(messages, 1), three);
  assert.deepEqual(forkHistory(messages, 2), [...two, ...three]);
  assert.deepEqual(forkHistory(messages, 3), messages.slice(1));
  assert.deepEqual(forkHistory(messages, 9), messages.slice(1));
  assert.deepEqual(forkHistory([system], 3), []);
});

test("forkHistory() counts no notification, no check of mm, no reminder and nothing blank as a turn", () => {
  const asked = [
    user("Do it"),
    answer("Started."),
    user(notification),
    answer("[1]"),
    user(repairPrompt(["too short"])),
    answer("[1,2]"),
    user("[mm: agents of the last session can go on]"),
    answer("Noted."),
    user("  \n"),
    answer("Yes?"),
  ];
  const messages = [system, user("Before"), answer("Fine."), ...asked];
  assert.deepEqual(forkHistory(messages, 1), asked);
});

test("forkHistory() counts a prompt behind a notification, and a picture without words", () => {
  const both = [user(`${notification}\n\nAnd now?`), answer("Now this.")];
  const picture: Message[] = [
    { role: "user", text: "", images: [{ mimeType: "image/png", data: "AA==" }] },
    answer("A dot."),
  ];
  const messages = [system, user("Before"), answer("Fine."), ...both, ...picture];
  assert.deepEqual(forkHistory(messages, 1), picture);
  assert.deepEqual(forkHistory(messages, 2), [...both, ...picture]);
});

test("forkHistory() leaves the summary of earlier turns out of a number of turns", () => {
  const two = [user("Two"), answer("Second.")];
  const messages = [system, ...summaryPair("One was done."), ...two];
  assert.deepEqual(forkHistory(messages, 1), two);
  assert.deepEqual(forkHistory(messages, 5), two);
  assert.deepEqual(forkHistory([system, ...summaryPair("One was done.")], 1), []);
});

test("forkHistory() keeps the request of a turn that was compressed while it went on, not its summary", () => {
  const going = [system, summaryAndRequest("Half is done.", user("Do it all")), ...round("b")];
  assert.deepEqual(forkHistory(going, 1), [user("Do it all"), ...round("b")]);
  assert.deepEqual(forkHistory(going, "all"), going.slice(1));
});

test("forkHistory() begins with a user message and separates no call from its result, for every number", () => {
  const messages = [
    system,
    ...summaryPair("Earlier."),
    user("One"),
    ...round("a"),
    ...round("b"),
    answer("First."),
    user(notification),
    ...round("c"),
    answer("Noted."),
    user("Two"),
    ...round("d"),
  ];
  for (let turns = 1; turns < 6; turns++) {
    const history = forkHistory(messages, turns);
    assert.equal(history[0]?.role, "user", `${turns}`);
    const called = history.flatMap((m) => m.role === "assistant" ? m.toolCalls ?? [] : []);
    const results = history.flatMap((m) => m.role === "tool" ? [m.callId] : []);
    assert.deepEqual(results, called.map((call) => call.id), `${turns}`);
  }
});

test("forkHistory() gives copies: what becomes of the fork does not reach the conversation", () => {
  const messages = [system, user("One"), ...round("a")];
  const history = forkHistory(messages, "all");
  const [, calling] = history;
  assert.ok(calling?.role === "assistant" && calling.toolCalls !== undefined);
  assert.notEqual(calling, messages[2]);
  Object.assign(calling.toolCalls[0] ?? {}, { arguments: "changed" });
  assert.deepEqual(messages[2], round("a")[0]);
});
