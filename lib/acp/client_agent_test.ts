import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChildUpdate } from "../agents/child_connection.ts";
import type { PermissionAnswer } from "../gate/question.ts";
import { serveAcp } from "./agent.ts";
import { connectChild } from "./client.ts";
import { pipes, ScriptedHost, type Turn } from "./testing.ts";

const soon = () => AbortSignal.timeout(5000);

async function connected(turn: Turn) {
  const { near, far } = pipes();
  const host = new ScriptedHost({ turn });
  const done = serveAcp({ host, streams: far, version: "1", signal: new AbortController().signal });
  const streams = { stdin: near.output, stdout: near.input };
  const connection = await connectChild(streams, { signal: soon() });
  const close = async () => {
    connection.close();
    await done;
  };
  return { host, connection, close };
}

const call = {
  id: "c1",
  name: "riker/bash",
  title: "make test",
  kind: "execute",
  input: { command: "make test" },
} as const;

test("what an mm tells, the mm that asks it gets back", async () => {
  const { connection, close } = await connected(({ emit }) => {
    emit({ type: "notice", severity: "warning", text: "AGENTS.md is long" });
    emit({ type: "thought", messageId: "t", text: "hm" });
    emit({ type: "tool_call", call: { ...call, parentId: "c0" } });
    emit({ type: "tool_update", callId: "c1", status: "in_progress" });
    emit({ type: "tool_output", callId: "c1", text: "ok `x`\n" });
    emit({ type: "tool_update", callId: "c1", status: "completed" });
    emit({ type: "text", messageId: "m", text: "done" });
    emit({ type: "usage", used: 5, size: 10 });
    return Promise.resolve({
      end: { kind: "incomplete", limit: "turns" },
      usage: { inputTokens: 1, outputTokens: 2, cachedTokens: 1 },
    });
  });
  const session = await connection.newSession({ cwd: "/", signal: soon() });
  assert.equal(connection.title, "Scripted");
  assert.equal(session.label, "test/model");
  const updates: ChildUpdate[] = [];
  const reply = await session.prompt("go", {
    signal: soon(),
    onUpdate: (update) => updates.push(update),
    onPermission: () => Promise.resolve({ kind: "reject_once" }),
  });
  assert.deepEqual(reply, {
    stop: "max_turn_requests",
    label: "test/model",
    usage: { inputTokens: 1, outputTokens: 2, cachedTokens: 1 },
  });
  assert.deepEqual(updates.filter((update) => update.type !== "other"), [
    { type: "notice", severity: "warning", text: "AGENTS.md is long" },
    { type: "thought", messageId: "t", text: "hm" },
    { type: "tool_call", status: "pending", call: { ...call, parentId: "c0" } },
    { type: "tool_update", callId: "c1", status: "in_progress", call: {} },
    { type: "tool_update", callId: "c1", call: {}, text: "ok `x`\n" },
    { type: "tool_update", callId: "c1", status: "completed", call: {}, text: "ok `x`\n" },
    { type: "text", messageId: "m", text: "done" },
    { type: "usage", used: 5, size: 10 },
  ]);
  await session.close();
  await close();
});

test("the true reason of a refusal reaches the asked mm", async () => {
  const answers: PermissionAnswer[] = [];
  const { connection, close } = await connected(async ({ askPermission, signal }) => {
    answers.push(await askPermission({ call, agent: "riker", cwd: "/" }, { signal }));
  });
  const session = await connection.newSession({ cwd: "/", signal: soon() });
  const given: PermissionAnswer[] = [
    { kind: "allow_once" },
    { kind: "allow_session" },
    { kind: "reject_once" },
    { kind: "reject_session" },
    { kind: "unavailable", reason: "nobody is there to answer" },
  ];
  for (const answer of given) {
    await session.prompt("x", {
      signal: soon(),
      onUpdate: () => {},
      onPermission: () => Promise.resolve(answer),
    });
  }
  assert.deepEqual(answers, given);
  await close();
});

test("a question says whether a rule of the asked mm, or of one it asks, wants a person", async () => {
  const { connection, close } = await connected(async ({ input, askPermission, signal }) => {
    const question = { call, agent: "riker", cwd: "/" };
    await askPermission(
      input.text === "rule" ? { ...question, mustAsk: 'the rule "bash"' } : question,
      { signal },
    );
  });
  const session = await connection.newSession({ cwd: "/", signal: soon() });
  const said: (boolean | undefined)[] = [];
  for (const text of ["rule", "none"]) {
    await session.prompt(text, {
      signal: soon(),
      onUpdate: () => {},
      onPermission: (_call, { mustAsk }) => {
        said.push(mustAsk);
        return Promise.resolve({ kind: "reject_once" });
      },
    });
  }
  assert.deepEqual(said, [true, undefined]);
  await close();
});

test("a cancel goes through, takes the open question along and leaves the session usable", async () => {
  const answers: PermissionAnswer[] = [];
  const { connection, close } = await connected(async ({ input, askPermission, signal, emit }) => {
    emit({ type: "text", messageId: "m", text: input.text });
    if (input.text === "quick") return;
    answers.push(await askPermission({ call, agent: "", cwd: "/" }, { signal }));
    signal.throwIfAborted();
  });
  const session = await connection.newSession({ cwd: "/", signal: soon() });
  const stop = new AbortController();
  const reply = await session.prompt("ask", {
    signal: stop.signal,
    onUpdate: () => {},
    onPermission: () => {
      stop.abort();
      return new Promise(() => {});
    },
  });
  assert.equal(reply.stop, "cancelled");
  assert.deepEqual(answers, [{ kind: "cancelled" }]);
  const next = await session.prompt("quick", {
    signal: soon(),
    onUpdate: () => {},
    onPermission: () => Promise.resolve({ kind: "reject_once" }),
  });
  assert.equal(next.stop, "end_turn");
  await close();
});

test("sessions of one connection run at the same time without mixing their words", async () => {
  const { connection, close } = await connected(async ({ input, emit }) => {
    for (let i = 0; i < 20; i++) {
      emit({ type: "text", messageId: "m", text: input.text });
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  });
  const answers = await Promise.all(["a", "b", "c"].map(async (letter) => {
    const session = await connection.newSession({ cwd: "/", signal: soon() });
    let text = "";
    await session.prompt(letter, {
      signal: soon(),
      onUpdate: (update) => text += update.type === "text" ? update.text : "",
      onPermission: () => Promise.resolve({ kind: "reject_once" }),
    });
    return text;
  }));
  assert.deepEqual(answers, ["a".repeat(20), "b".repeat(20), "c".repeat(20)]);
  await close();
});
