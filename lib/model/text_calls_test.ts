import { test } from "node:test";
import assert from "node:assert/strict";
import { createAccumulator } from "./accumulate.ts";
import { readTextCalls } from "./text_calls.ts";
import type { ModelEvent } from "./types.ts";

const NAMES = new Set(["read", "bash"]);
const READ = [{ name: "read", arguments: '{"path":"a"}' }];

test("readTextCalls() reads the notations models are trained on", () => {
  for (
    const text of [
      '<tool_call>\n{"name": "read", "arguments": {"path": "a"}}\n</tool_call>',
      '<tool_call>{"name": "read", "arguments": {"path": "a"}}',
      '<function=read>{"path": "a"}</function>',
      "<tool_call>\n<function=read>\n<parameter=path>\na\n</parameter>\n</function>\n</tool_call>",
      '[TOOL_CALLS][{"name": "read", "arguments": {"path": "a"}}]',
      '[TOOL_CALLS]read[ARGS]{"path": "a"}',
      '{"name": "read", "arguments": {"path": "a"}}',
      '{"name": "read", "parameters": {"path": "a"}}',
      '```json\n{"name": "read", "arguments": "{\\"path\\": \\"a\\"}"}\n```',
      '[{"type": "function", "function": {"name": "read", "arguments": {"path": "a"}}}]',
    ]
  ) {
    assert.deepEqual(readTextCalls(text, NAMES), READ, text);
  }
});

test("readTextCalls() takes nothing for a call that is not all of it and of a declared tool", () => {
  for (
    const text of [
      '{"name": "delete_all", "arguments": {}}',
      '{"name": "read"}',
      '{"path": "a"}',
      '{"name": "read", "arguments": {"path": "a"}} is how you call it',
      "read a",
      "",
      '<tool_call>{"name": "read", "arguments": {"path": </tool_call>',
      '<tool_call>{"name": "read", "arguments": {}}</tool_call> and <tool_call>nonsense</tool_call>',
    ]
  ) {
    assert.equal(readTextCalls(text, NAMES), undefined, text);
  }
});

/** Streams a text in pieces of a size. */
function stream(text: string, size: number, thought = false, textCalls = true) {
  const seen: ModelEvent[] = [];
  const accumulator = createAccumulator({
    onEvent: (event) => void seen.push(event),
    toolNames: NAMES,
    textCalls,
  });
  for (let at = 0; at < text.length; at += size) {
    const piece = text.slice(at, at + size);
    accumulator.push({ type: "delta", delta: thought ? { thought: piece } : { text: piece } });
  }
  accumulator.push({ type: "delta", delta: { finish: "stop" } });
  const end = accumulator.end();
  assert(end.type === "complete");
  const shown = seen.map((event) => event.type === "text" ? event.text : "").join("");
  return { shown, reply: end.reply, calls: end.reply.message.toolCalls?.map((c) => c.name) };
}

test("E15: a call written as text is a call and its notation is not shown, however it is cut", () => {
  const tagged = '<tool_call>\n{"name": "read", "arguments": {"path": "a"}}\n</tool_call>';
  for (const size of [1, 2, 5, 1000]) {
    const alone = stream(tagged, size);
    assert.deepEqual(alone.calls, ["read"]);
    assert.equal(alone.shown, "");
    assert.equal(alone.reply.finish, "tool_calls");

    const after = stream(`I look at it.\n\n${tagged}`, size);
    assert.deepEqual(after.calls, ["read"]);
    assert.equal(after.shown, "I look at it.\n\n");
    assert.equal(after.reply.message.text, "I look at it.\n\n");
  }
});

test("E15: text that only begins like a call is shown whole", () => {
  for (
    const text of [
      "<tool_call> is the tag that Qwen uses.",
      '{"name": "bob", "age": 4}',
      "a < b\n<tool",
      "\n\n",
      "Use `<tool_call>` like this:\n\n    <tool_call>\n",
    ]
  ) {
    for (const size of [1, 3, 1000]) {
      const { shown, calls, reply } = stream(text, size);
      assert.equal(shown, text);
      assert.equal(reply.message.text, text);
      assert.equal(calls, undefined);
    }
  }
});

test("E15: a call at the end of the reasoning of an otherwise empty answer is a call", () => {
  const text = 'I need the file.\n<tool_call>{"name":"read","arguments":{"path":"a"}}</tool_call>';
  assert.deepEqual(stream(text, 4, true).calls, ["read"]);
});

test("E15: where the provider does it itself, text stays text", () => {
  const text = '{"name": "read", "arguments": {"path": "a"}}';
  const { shown, calls } = stream(text, 3, false, false);
  assert.equal(shown, text);
  assert.equal(calls, undefined);
});
