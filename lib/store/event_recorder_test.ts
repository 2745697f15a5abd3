import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { EngineEvent } from "../engine/events.ts";
import { EventRecorder } from "./event_recorder.ts";
import type { SavedEvent } from "./record.ts";
import { replayEvents } from "./replay.ts";

function record(events: readonly EngineEvent[]): SavedEvent[] {
  const saved: SavedEvent[] = [];
  const recorder = new EventRecorder((event) => saved.push(event));
  for (const event of events) recorder.take(event);
  recorder.flush();
  return saved;
}

const call = (id: string, parentId?: string): EngineEvent => ({
  type: "tool_call",
  call: {
    id,
    name: "bash",
    title: "make",
    kind: "execute",
    input: {},
    ...(parentId === undefined ? {} : { parentId }),
  },
});

const ended = (callId: string): EngineEvent => ({
  type: "tool_update",
  callId,
  status: "completed",
  text: "built",
});

test("pieces of a message are one record, and what only mattered at its time is none", () => {
  const saved = record([
    { type: "thought", messageId: "1", text: "Hm" },
    { type: "thought", messageId: "1", text: "m." },
    { type: "text", messageId: "1", text: "A" },
    { type: "text", messageId: "1", text: "B" },
    { type: "usage", used: 5 },
    { type: "text", messageId: "1", text: "C" },
    { type: "text", messageId: "2", text: "D" },
    call("c"),
    { type: "tool_update", callId: "c", status: "in_progress" },
    { type: "tool_output", callId: "c", text: "out" },
    ended("c"),
  ]);
  assert.deepEqual(saved.map((event) => "text" in event ? event.text : event.type), [
    "Hmm.",
    "ABC",
    "D",
    "tool_call",
    "built",
  ]);
});

test("a long answer is saved while it comes", async () => {
  const saved: SavedEvent[] = [];
  const recorder = new EventRecorder((event) => saved.push(event));
  recorder.take({ type: "text", messageId: "1", text: "Once " });
  recorder.take({ type: "text", messageId: "1", text: "upon" });
  assert.equal(saved.length, 0);
  const until = performance.now() + 10_000;
  while (saved.length === 0 && performance.now() < until) await delay(20);
  recorder.take({ type: "text", messageId: "1", text: " a time" });
  recorder.flush();
  assert.deepEqual(saved.map((event) => event.type === "text" && event.text), [
    "Once upon",
    " a time",
  ]);
});

test("what was thrown is not saved", () => {
  const end = { kind: "failed", reason: "no", cause: { secret: 1 } } as const;
  const saved = record([{ type: "ask_end", askId: "1", agent: "bob", end }]);
  assert.deepEqual(saved, [
    { type: "ask_end", askId: "1", agent: "bob", end: { kind: "failed", reason: "no" } },
  ]);
});

test("a replay is the same in the same order, under ids of its own that belong together", () => {
  const saved = record([
    { type: "user", messageId: "u", text: "Go" },
    call("p"),
    { type: "ask_start", askId: "a", agent: "bob", title: "Bob", callId: "p" },
    call("c", "p"),
    ended("c"),
    { type: "ask_end", askId: "a", agent: "bob", end: { kind: "answered" }, label: "x/y" },
    ended("p"),
    { type: "text", messageId: "m", text: "Done" },
  ]);
  const shown = [...replayEvents(saved, "full")];
  assert.deepEqual(shown.map((event) => event.type), saved.map((event) => event.type));
  const text = JSON.stringify(shown);
  for (const id of ['"u"', '"p"', '"a"', '"c"', '"m"']) assert.ok(!text.includes(id), id);
  const [, parent, start, child, childEnd, askEnd, parentEnd] = shown;
  assert.ok(parent?.type === "tool_call" && child?.type === "tool_call");
  assert.equal(child.call.parentId, parent.call.id);
  assert.ok(start?.type === "ask_start" && start.callId === parent.call.id);
  assert.ok(askEnd?.type === "ask_end" && askEnd.askId === start.askId);
  assert.ok(childEnd?.type === "tool_update" && childEnd.callId === child.call.id);
  assert.ok(parentEnd?.type === "tool_update" && parentEnd.callId === parent.call.id);
  assert.notDeepEqual([...replayEvents(saved, "full")], shown);
});

test("calls and asks that were cut off are ended before the next prompt, and at the end", () => {
  const saved = record([
    { type: "user", messageId: "u", text: "Go" },
    call("c"),
    { type: "user", messageId: "v", text: "Again" },
    ended("c"),
    ended("unknown"),
    { type: "ask_start", askId: "a", agent: "bob", title: "bob" },
  ]);
  const shown = [...replayEvents(saved, "full")];
  assert.deepEqual(
    shown.map((event) => event.type === "tool_update" ? event.text : event.type),
    ["user", "tool_call", "[interrupted]", "user", "ask_start", "ask_end"],
  );
});

test("a compact replay has the last prompts, without thoughts; none has nothing", () => {
  const saved = record(
    Array.from({ length: 30 }, (_, at): EngineEvent[] => [
      { type: "user", messageId: `u${at}`, text: `question ${at}` },
      { type: "thought", messageId: `t${at}`, text: "hm" },
      { type: "text", messageId: `m${at}`, text: "answer" },
    ]).flat(),
  );
  const shown = [...replayEvents(saved, "compact")];
  assert.deepEqual(shown[0], {
    type: "notice",
    severity: "info",
    text: "[10 earlier prompts are not shown]",
  });
  assert.equal(shown.length, 1 + 20 * 2);
  assert.ok(shown[1]?.type === "user" && shown[1].text === "question 10");
  assert.deepEqual([...replayEvents(saved, "none")], []);
});
