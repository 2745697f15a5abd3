import assert from "node:assert/strict";
import { test } from "node:test";
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import type { ToolCallView } from "../base/tool_call.ts";
import { OUTPUT_TAIL } from "./call_output.ts";
import { fieldsOf, listOf } from "./fields.ts";
import { MAX_PART } from "./limits.ts";
import { SessionUpdates } from "./updates.ts";

function collect(options: { notices?: boolean } = {}) {
  const sent: SessionUpdate[] = [];
  const updates = new SessionUpdates({
    send: (update) => sent.push(update),
    notices: options.notices ?? false,
  });
  updates.begin();
  return { sent, updates };
}

const bash: ToolCallView = {
  id: "c1",
  name: "bash",
  title: "make test",
  kind: "execute",
  input: { command: "make test" },
};

function textsOf(update: unknown): unknown[] {
  return listOf(fieldsOf(update)["content"]).map((item) =>
    fieldsOf(fieldsOf(item)["content"])["text"]
  );
}

test("a call is announced with kind, arguments, places, changes and its full name", () => {
  const { sent, updates } = collect();
  updates.take({
    type: "tool_call",
    call: {
      id: "c2",
      name: "bob/edit",
      title: "Edit a.ts",
      kind: "edit",
      input: { path: "a.ts" },
      locations: [{ path: "/x/a.ts", line: 3 }, { path: "relative.ts" }],
      diffs: [{ path: "/x/a.ts", oldText: null, newText: "new" }],
      parentId: "c1",
    },
  });
  assert.deepEqual(sent, [{
    sessionUpdate: "tool_call",
    toolCallId: "c2",
    title: "bob/edit: Edit a.ts",
    name: "bob/edit",
    kind: "edit",
    rawInput: { path: "a.ts" },
    content: [{ type: "diff", path: "/x/a.ts", oldText: null, newText: "new" }],
    locations: [{ path: "/x/a.ts", line: 3 }],
    _meta: { mm: { name: "bob/edit", title: "Edit a.ts", parentCallId: "c1", agent: "bob" } },
    status: "pending",
  }]);
  updates.close();
});

test("what an asked agent says of its call later replaces title, kind and arguments", () => {
  const { sent, updates } = collect();
  const view: ToolCallView = { ...bash, name: "bob/Terminal", title: "Terminal", kind: "other" };
  updates.take({ type: "tool_call", call: view });
  const call: ToolCallView = { ...bash, name: "bob/execute", title: "ls" };
  updates.take({ type: "tool_update", callId: "c1", status: "pending", call });
  assert.deepEqual(sent[1], {
    sessionUpdate: "tool_call_update",
    toolCallId: "c1",
    status: "pending",
    title: "bob/execute: ls",
    kind: "execute",
    rawInput: bash.input,
    _meta: { mm: { name: "bob/execute", title: "ls", agent: "bob" } },
  });
  // As one of its kind from here on: the output of a command is no Markdown.
  updates.take({ type: "tool_update", callId: "c1", status: "completed", text: "a.ts" });
  assert.deepEqual(textsOf(sent[2]), ["```\na.ts\n```"]);
});

test("output is shown at once, then at most ten times a second, then whole with the end", async () => {
  const { sent, updates } = collect();
  updates.take({ type: "tool_call", call: bash });
  for (let i = 0; i < 1000; i++) {
    updates.take({ type: "tool_output", callId: "c1", text: `line ${i}\n` });
  }
  assert.equal(sent.length, 2);
  await new Promise((resolve) => setTimeout(resolve, 150));
  assert.equal(sent.length, 3);
  assert.match(String(textsOf(sent[2])[0]), /line 999\n```$/u);
  updates.take({ type: "tool_output", callId: "c1", text: "last" });
  updates.take({ type: "tool_update", callId: "c1", status: "completed" });
  assert.match(String(textsOf(sent.at(-1))[0]), /^```\nline 0\n[^]*line 999\nlast\n```$/u);
  const count = sent.length;
  await new Promise((resolve) => setTimeout(resolve, 150));
  assert.equal(sent.length, count);
  updates.close();
});

test("the shown output is bounded and says what is left out", () => {
  const { sent, updates } = collect();
  updates.take({ type: "tool_call", call: bash });
  for (let i = 0; i < 100; i++) {
    updates.take({ type: "tool_output", callId: "c1", text: "x".repeat(10_000) });
  }
  updates.end();
  const text = String(textsOf(sent.at(-1))[0]);
  assert.ok(text.length < OUTPUT_TAIL + 200);
  assert.ok(text.includes(`${1_000_000 - OUTPUT_TAIL} characters before this left out`));
});

test("thoughts of an asked agent stand apart from its words inside the call", () => {
  const { sent, updates } = collect();
  updates.take({ type: "tool_call", call: { ...bash, name: "ask_agent", kind: "other" } });
  const output = (text: string, thought: boolean) =>
    updates.take({ type: "tool_output", callId: "c1", text, thought });
  output("hm\nwell", true);
  output("Yes", false);
  output(".", false);
  updates.take({ type: "tool_update", callId: "c1", status: "completed" });
  assert.deepEqual(textsOf(sent.at(-1)), ["> hm\n> well\n\nYes."]);
  updates.close();
});

test("the call of an asked agent names it and its model in the title", () => {
  const { sent, updates } = collect();
  const call = { ...bash, name: "ask_agent", title: "Ask bob" };
  updates.take({ type: "tool_call", call });
  updates.take({ type: "ask_start", askId: "a", agent: "bob", title: "Bob", callId: "c1" });
  updates.take({
    type: "ask_end",
    askId: "a",
    agent: "bob",
    end: { kind: "answered" },
    label: "p/m",
  });
  assert.deepEqual(sent.slice(1).map((update) => fieldsOf(update)["title"]), [
    "Ask bob (Bob)",
    "Ask bob (p/m)",
  ]);
  updates.close();
});

test("no call is left open when the prompt ends, and none is ended twice", () => {
  const { sent, updates } = collect();
  updates.take({ type: "tool_call", call: bash });
  updates.take({ type: "tool_update", callId: "c1", status: "in_progress" });
  updates.take({ type: "tool_output", callId: "c1", text: "half" });
  updates.end();
  updates.end();
  const statuses = sent.map((update) => fieldsOf(update)["status"]).filter((s) => s !== undefined);
  assert.deepEqual(statuses, ["pending", "in_progress", "failed"]);
  assert.deepEqual(textsOf(sent.at(-1)), ["```\nhalf\n\nThe call did not finish.\n```"]);
});

test("words of an asked agent in a typed ask say whose they are", () => {
  const { sent, updates } = collect();
  updates.take({ type: "text", messageId: "m", text: "hi", agent: "bob" });
  assert.deepEqual(sent, [{
    sessionUpdate: "agent_message_chunk",
    messageId: "m",
    content: { type: "text", text: "hi" },
    _meta: { mm: { agent: "bob" } },
  }]);
});

test("a notice is a notice where the client takes them, else visible text of its own", () => {
  const modern = collect({ notices: true });
  modern.updates.take({ type: "notice", severity: "warning", text: "long" });
  assert.deepEqual(modern.sent, [{ sessionUpdate: "notice", severity: "warning", title: "long" }]);

  const { sent, updates } = collect();
  updates.take({ type: "notice", severity: "error", text: "lost" });
  updates.take({ type: "notice", severity: "info", text: "waiting" });
  assert.deepEqual(sent.map((update) => update.sessionUpdate), [
    "agent_message_chunk",
    "agent_thought_chunk",
  ]);
  const ids = sent.map((update) => fieldsOf(update)["messageId"]);
  assert.notEqual(ids[0], ids[1]);
});

test("a notice between prompts comes with the next one where the client has no place for it", () => {
  const { sent, updates } = collect();
  updates.end();
  updates.take({ type: "notice", severity: "warning", text: "the window is small" });
  assert.equal(sent.length, 0);
  updates.begin();
  assert.deepEqual(sent.map((update) => update.sessionUpdate), ["agent_message_chunk"]);
  assert.equal(updates.shown, false, "it is not the answer to this prompt");
  updates.end();
  updates.begin();
  assert.equal(sent.length, 1);

  const modern = collect({ notices: true });
  modern.updates.end();
  modern.updates.take({ type: "notice", severity: "warning", text: "the window is small" });
  assert.equal(modern.sent.length, 1);
});

test("a character that is split between two pieces arrives whole", () => {
  const { sent, updates } = collect();
  updates.take({ type: "text", messageId: "m", text: "a\ud83d" });
  updates.take({ type: "text", messageId: "m", text: "\ude00b" });
  assert.deepEqual(sent.map((update) => fieldsOf(fieldsOf(update)["content"])["text"]), [
    "a",
    "\ud83d\ude00b",
  ]);
});

test("what is too long for one message is split, cut or left out, with the facts", () => {
  const { sent, updates } = collect();
  updates.take({ type: "text", messageId: "m", text: "x".repeat(MAX_PART * 2 + 1) });
  assert.equal(sent.length, 3);
  updates.take({
    type: "tool_call",
    call: {
      ...bash,
      input: { command: "y".repeat(MAX_PART) },
      diffs: [{ path: "/x/big", oldText: "z".repeat(MAX_PART), newText: "z" }],
    },
  });
  const call = fieldsOf(sent.at(-1));
  assert.match(JSON.stringify(call["rawInput"]), /^\{"leftOut":"arguments of \d+ characters"\}$/u);
  assert.match(String(textsOf(call)[0]), /change of \/x\/big is not shown: it has 1048577/u);
  updates.take({ type: "tool_update", callId: "c1", status: "completed", text: "w".repeat(3e6) });
  assert.match(String(textsOf(sent.at(-1))[1]), /\d+ of 3000000 characters left out/u);
});

test("usage is sent when the window is known", () => {
  const { sent, updates } = collect();
  updates.take({ type: "usage", used: 10 });
  updates.take({ type: "usage", used: 20, size: 100 });
  assert.deepEqual(sent, [{ sessionUpdate: "usage_update", used: 20, size: 100 }]);
});

test("work in the background is told within a prompt when it ends, and never between prompts", () => {
  const { sent, updates } = collect({ notices: true });
  const task = {
    type: "task",
    taskId: "task-1f09ab",
    agent: "explore",
    description: "Look",
  } as const;
  updates.take({ ...task, state: "running" });
  updates.take({ ...task, state: "parked" });
  updates.take({ ...task, state: "ended", end: { kind: "answered" } });
  const title = "explore (task-1f09ab) ended: Look";
  const told = [{ sessionUpdate: "notice", severity: "info", title }];
  assert.deepEqual(sent, told);
  updates.end();
  updates.take({ ...task, state: "ended", end: { kind: "cancelled" } });
  updates.begin();
  assert.deepEqual(sent, told);
});
