import assert from "node:assert/strict";
import { test } from "node:test";
import type { AssistantMessage, Message } from "../model/types.ts";
import type { Tool } from "../tools/tool.ts";
import { ContextSize } from "./compaction_size.ts";

const said: Message = { role: "user", text: "x".repeat(350) };
const reply: AssistantMessage = { role: "assistant", text: "y".repeat(35) };
const tools = [{ name: "ls", description: "z".repeat(600), parameters: {} }] as unknown as Tool[];

test("without a count the size is characters / 3.5, declarations of tools included", () => {
  const size = new ContextSize();
  assert.equal(size.measure([said], []), 100);
  assert.ok(size.measure([said], tools) > 270);
  assert.equal(size.characters(100), 350);
});

test("the server's count wins, and what was added since is estimated in its measure", () => {
  const size = new ContextSize();
  size.observe({ messages: [said], tools: [], reply, usage: usage(300, 30) });
  assert.equal(size.measure([said, reply], []), 330);
  // 100 by the estimate, three times as many by the server's tokenizer.
  assert.equal(size.measure([said, reply, said], []), 630);
  assert.equal(size.characters(300), 350);
});

test("thoughts do not count: they are mostly not sent back", () => {
  const size = new ContextSize();
  const thinking = { ...reply, reasoning: "long" };
  size.observe({ messages: [said], tools: [], reply: thinking, usage: usage(100, 5000) });
  assert.equal(size.measure([said, thinking], []), 110);
});

test("a count that cannot be of the request is not used", () => {
  for (const counted of [undefined, usage(0, 0), usage(5, 1), usage(90_000, 1)]) {
    const size = new ContextSize();
    size.observe({ messages: [said], tools: [], reply, usage: counted });
    assert.equal(size.measure([said], []), 100);
  }
});

test("after a compression the measure stays and the count goes; another conversation knows neither", () => {
  const size = new ContextSize();
  size.observe({ messages: [said, reply, said], tools: [], reply, usage: usage(420, 20) });
  size.replaced();
  assert.equal(size.measure([said], []), 200);
  size.reset();
  assert.equal(size.measure([said], []), 100);
});

function usage(inputTokens: number, outputTokens: number) {
  return { inputTokens, outputTokens };
}
