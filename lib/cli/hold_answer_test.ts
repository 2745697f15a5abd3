import assert from "node:assert/strict";
import { test } from "node:test";
import type { EngineEvent } from "../engine/events.ts";
import { holdAnswer } from "./hold_answer.ts";

function shown(events: readonly EngineEvent[]): string[] {
  const seen: string[] = [];
  const emit = holdAnswer((event) => seen.push(event.type === "text" ? event.text : event.type));
  events.forEach(emit);
  return seen;
}

const text = (messageId: string, words: string): EngineEvent => ({
  type: "text",
  messageId,
  text: words,
  agent: "bob",
});
const call: EngineEvent = {
  type: "tool_call",
  call: { id: "1", name: "bob/bash", title: "ls", kind: "execute", input: {} },
};
const thought: EngineEvent = { type: "thought", messageId: "t", text: "hm", agent: "bob" };

test("holdAnswer() passes what was said before a call or another message, in order", () => {
  assert.deepEqual(
    shown([text("a", "I "), text("a", "look."), call, text("b", "Hm."), text("c", "Done.")]),
    ["I ", "look.", "tool_call", "Hm."],
  );
});

test("holdAnswer() passes thoughts at once and keeps the last message", () => {
  assert.deepEqual(shown([thought, text("a", "So"), thought, text("a", " be it.")]), [
    "thought",
    "thought",
  ]);
});
