import assert from "node:assert/strict";
import { test } from "node:test";
import { Conversation } from "./conversation.ts";

const CALLS = [{ id: "a", name: "ls", arguments: "{}" }, { id: "b", name: "ls", arguments: "{}" }];

function roles(conversation: Conversation): string {
  return conversation.messages.map((message) => message.role).join(" ");
}

test("a conversation without a system prompt begins empty", () => {
  assert.deepEqual(new Conversation().messages, []);
  assert.deepEqual(new Conversation("").messages, []);
  assert.deepEqual(new Conversation("be brief").messages, [{ role: "system", text: "be brief" }]);
});

test("two user messages in a row are a mistake", () => {
  const c = new Conversation();
  c.addUser("one");
  assert.throws(() => c.addUser("two"), /Cannot add a user message after an open user message/);
});

test("close() answers a question that got no answer", () => {
  const c = new Conversation("s");
  c.addUser("one");
  c.close("[cancelled]");
  assert.equal(roles(c), "system user assistant");
  c.addUser("two");
  assert.equal(roles(c), "system user assistant user");
});

test("close() gives each open call a result, in order, and then an answer", () => {
  const c = new Conversation();
  c.addUser("one");
  c.addAssistant({ role: "assistant", text: "", toolCalls: CALLS });
  c.addToolResult({ callId: "a", name: "ls", text: "x" });
  c.close("[cancelled]");
  assert.deepEqual(c.messages.slice(2), [
    { role: "tool", callId: "a", name: "ls", text: "x" },
    { role: "tool", callId: "b", name: "ls", text: "[cancelled]" },
    { role: "assistant", text: "[cancelled]" },
  ]);
});

test("close() after the results of a round adds the answer alone", () => {
  const c = new Conversation();
  c.addUser("one");
  c.addAssistant({ role: "assistant", text: "", toolCalls: CALLS.slice(0, 1) });
  c.addToolResult({ callId: "a", name: "ls", text: "x" });
  c.close("[turn limit]");
  assert.equal(roles(c), "user assistant tool assistant");
});

test("close() leaves an answered turn and an empty conversation alone", () => {
  const c = new Conversation("s");
  c.close("[cancelled]");
  assert.equal(roles(c), "system");
  c.addPair("[asked bob: q]", "[bob's answer]\na");
  c.close("[cancelled]");
  assert.equal(roles(c), "system user assistant");
});

test("lone surrogates never get into a conversation", () => {
  const c = new Conversation();
  c.addPair("a\ud83d", "\ude00b");
  assert.ok(c.messages.every((message) => message.text.isWellFormed()));
});

test("clear() keeps the system prompt", () => {
  const c = new Conversation("s");
  c.addPair("q", "a");
  c.clear();
  assert.deepEqual(c.messages, [{ role: "system", text: "s" }]);
});

test("open calls are those of the last answer without a result, in order", () => {
  const c = new Conversation();
  const open = () => c.openCalls.map((call) => call.id).join(" ");
  assert.equal(open(), "");
  c.addUser("one");
  assert.equal(open(), "");
  c.addAssistant({ role: "assistant", text: "", toolCalls: CALLS });
  assert.equal(open(), "a b");
  c.addToolResult({ callId: "a", name: "ls", text: "x" });
  assert.equal(open(), "b");
  c.close("[cancelled]");
  assert.equal(open(), "");
});
