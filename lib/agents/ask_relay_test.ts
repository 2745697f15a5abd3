import assert from "node:assert/strict";
import { test } from "node:test";
import type { EngineEvent } from "../engine/events.ts";
import { Gate } from "../gate/gate.ts";
import type { PermissionQuestion } from "../gate/question.ts";
import { AskRelay } from "./ask_relay.ts";

const NEVER = new AbortController().signal;

function relay(options: { readonly deny?: string[]; readonly yolo?: boolean } = {}) {
  const asked: PermissionQuestion[] = [];
  const events: EngineEvent[] = [];
  const gate = new Gate({
    rules: { allow: [], ask: [], deny: options.deny ?? [] },
    honourAllowRules: true,
    askPermission: (question) => {
      asked.push(question);
      return Promise.resolve({ kind: "allow_session" });
    },
  });
  const made = new AskRelay({
    agent: "bob",
    emit: (event) => void events.push(event),
    gate,
    yolo: () => options.yolo ?? false,
    cwd: "/",
  });
  return { relay: made, asked, events };
}

const READ = { id: "1", name: "read", title: "notes.txt", kind: "read", input: {} } as const;
const REMOVE = {
  id: "1",
  name: "bash",
  title: "rm -rf x",
  kind: "execute",
  input: { command: "rm -rf x" },
} as const;

test("a person is asked about the call as the question has it, not as it was announced", async () => {
  const { relay: bob, asked, events } = relay();
  bob.update({ type: "tool_call", call: READ, status: "pending" });
  assert.deepEqual(await bob.permission(REMOVE, { signal: NEVER }), { kind: "allow_once" });
  const [{ call } = assert.fail("nobody was asked")] = asked;
  assert.deepEqual(
    [call.name, call.title, call.kind, call.input],
    ["bob/bash", "rm -rf x", "execute", { command: "rm -rf x" }],
  );
  const announced = events.flatMap((event) => event.type === "tool_call" ? [event.call.id] : []);
  assert.deepEqual(announced, [call.id], "it is the call that was announced");
});

test("what a question leaves out is as the last update said", async () => {
  const { relay: bob, asked } = relay();
  const { id, name } = REMOVE;
  const call = { ...REMOVE, title: "bash", input: {} };
  bob.update({ type: "tool_call", call, status: "pending" });
  bob.update({
    type: "tool_update",
    callId: id,
    call: { title: REMOVE.title, input: REMOVE.input },
  });
  await bob.permission({ id }, { signal: NEVER });
  assert.deepEqual(asked[0]?.call.title, REMOVE.title);
  assert.deepEqual(asked[0]?.call.input, REMOVE.input);
  assert.equal(asked[0]?.call.name, `bob/${name}`);
});

test("a rule that denies sees the call of the question, also under yolo", async () => {
  const { relay: bob } = relay({ deny: ["bob/bash(rm *)"], yolo: true });
  bob.update({ type: "tool_call", call: READ, status: "pending" });
  assert.equal((await bob.permission(REMOVE, { signal: NEVER })).kind, "unavailable");
});

test("a call that a rule of the agent's own wants a person for asks under yolo, the next one does not", async () => {
  const { relay: bob, asked } = relay({ yolo: true });
  await bob.permission(REMOVE, { signal: NEVER, mustAsk: true });
  assert.equal(asked[0]?.mustAsk, "a rule of permissions.ask that bob has");
  await bob.permission(REMOVE, { signal: NEVER });
  assert.equal(asked.length, 1);
});

test("leave for the session is for the name of the question, where titles stand for names too", async () => {
  const { relay: bob, asked } = relay();
  await bob.permission({ id: "1", title: "ls" }, { signal: NEVER });
  await bob.permission({ id: "2", title: "ls" }, { signal: NEVER });
  assert.equal(asked.length, 1);
  // The same id under another title is another call.
  await bob.permission({ id: "1", title: "rm -rf x" }, { signal: NEVER });
  assert.equal(asked.length, 2);
  assert.equal(asked[1]?.call.title, "rm -rf x");
  assert.notEqual(asked[1]?.call.name, asked[0]?.call.name);
});

test("what is said of a call later is shown, each end once, and what is left open ends with the ask", () => {
  const { relay: bob, events } = relay();
  const said = (call: object, more: object = {}) =>
    bob.update({ type: "tool_update", callId: "1", call, ...more });
  bob.update({ type: "tool_call", call: { id: "1", title: "Terminal" }, status: "pending" });
  said({ title: "ls -la", kind: "execute", input: { command: "ls -la" } });
  said({}, { status: "in_progress" });
  said({ title: "ls -la ." });
  said({}, { status: "completed", text: "a.ts" });
  said({}, { status: "failed", text: "twice" });
  said({ title: "too late" });
  bob.update({ type: "tool_call", call: { id: "2", title: "done" }, status: "completed" });
  bob.update({ type: "tool_call", call: { id: "3", title: "open" }, status: "in_progress" });
  bob.close();
  const titles = new Map<string, string>();
  const seen = events.map((event) => {
    if (event.type === "tool_call") {
      titles.set(event.call.id, event.call.title);
      return event.call.title;
    }
    assert.equal(event.type, "tool_update");
    if (event.type !== "tool_update") return "";
    const { title, name, input } = event.call ?? {};
    const more = event.call === undefined ? [] : [title, name, JSON.stringify(input)];
    return [titles.get(event.callId), event.status, ...more].join(" | ");
  });
  assert.deepEqual(seen, [
    "Terminal",
    'Terminal | pending | ls -la | bob/execute | {"command":"ls -la"}',
    "Terminal | in_progress",
    'Terminal | in_progress | ls -la . | bob/execute | {"command":"ls -la"}',
    "Terminal | completed",
    "done",
    "done | completed",
    "open",
    "open | in_progress",
    "open | failed",
  ]);
});
