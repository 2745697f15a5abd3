import assert from "node:assert/strict";
import { test } from "node:test";
import type { PermissionAnswer } from "../gate/question.ts";
import { serveAcp } from "./agent.ts";
import { fieldsOf, listOf } from "./fields.ts";
import { pipes, RawPeer, ScriptedHost } from "./testing.ts";

const call = {
  id: "c1",
  name: "bob/bash",
  title: "make t…",
  kind: "execute",
  input: { command: "make test && make install" },
} as const;

/** An agent that asks once in every prompt; the answers it got are in `answers`. */
async function asking() {
  const { near, far } = pipes();
  const answers: PermissionAnswer[] = [];
  const host = new ScriptedHost({
    turn: async ({ emit, askPermission, signal }) => {
      emit({ type: "tool_call", call });
      answers.push(await askPermission({ call, agent: "bob", cwd: "/x" }, { signal }));
      signal.throwIfAborted();
    },
  });
  const done = serveAcp({ host, streams: far, version: "1", signal: new AbortController().signal });
  const peer = new RawPeer(near);
  return { peer, answers, done, id: await peer.hello() };
}

test("the question shows the call whole and offers four answers in words", async () => {
  const { peer, id, answers, done } = await asking();
  peer.onRequest = (message) => {
    const result = { outcome: { outcome: "selected", optionId: "allow_once" } };
    void peer.send({ id: message["id"], result });
  };
  await peer.prompt(id, "x");
  const question = await peer.find((m) => m["method"] === "session/request_permission");
  assert.deepEqual(question["params"], {
    sessionId: id,
    toolCall: {
      toolCallId: "c1",
      title: "bob/bash: make t…",
      name: "bob/bash",
      kind: "execute",
      rawInput: { command: "make test && make install" },
      content: [{
        type: "content",
        content: { type: "text", text: "```\nmake test && make install\n```" },
      }],
      _meta: { mm: { name: "bob/bash", title: "make t…", agent: "bob" } },
    },
    options: [
      { optionId: "allow_once", kind: "allow_once", name: "Allow once" },
      { optionId: "allow_session", kind: "allow_always", name: "Allow for this session" },
      { optionId: "reject_once", kind: "reject_once", name: "Reject" },
      { optionId: "reject_session", kind: "reject_always", name: "Reject for this session" },
    ],
  });
  const announced = peer.seen.findIndex((m) =>
    fieldsOf(fieldsOf(m["params"])["update"])["sessionUpdate"] === "tool_call"
  );
  assert.ok(announced >= 0 && announced < peer.seen.indexOf(question));
  assert.deepEqual(answers, [{ kind: "allow_once" }]);
  await peer.end();
  await done;
});

test("each option is what it says; everything else refuses with the true reason", async () => {
  const { peer, id, answers, done } = await asking();
  const selected = (optionId: unknown) => ({
    result: { outcome: { outcome: "selected", optionId } },
  });
  const cases: [object, PermissionAnswer][] = [
    [selected("allow_session"), { kind: "allow_session" }],
    [selected("reject_once"), { kind: "reject_once" }],
    [selected("reject_session"), { kind: "reject_session" }],
    [
      selected("nope"),
      { kind: "unavailable", reason: "the editor chose an option that was not offered" },
    ],
    [
      { result: { bogus: true } },
      { kind: "unavailable", reason: "the editor's answer was no answer" },
    ],
    [{ result: null }, { kind: "unavailable", reason: "the editor's answer was no answer" }],
    [
      { error: { code: -32601, message: "Method not found" } },
      { kind: "unavailable", reason: "the editor could not ask: Method not found" },
    ],
    [
      { result: { outcome: { outcome: "cancelled" } } },
      { kind: "unavailable", reason: "the question was closed without an answer" },
    ],
    [
      {
        result: {
          outcome: { outcome: "selected", optionId: "reject_once" },
          _meta: { mm: { reason: "nobody is there" } },
        },
      },
      { kind: "unavailable", reason: "nobody is there" },
    ],
  ];
  for (const [reply, expected] of cases) {
    peer.onRequest = (message) => void peer.send({ id: message["id"], ...reply });
    await peer.prompt(id, "x");
    assert.deepEqual(answers.at(-1), expected);
  }
  await peer.end();
  await done;
});

test("a cancel does not wait for an editor that never answers, and a late yes changes nothing", async () => {
  const { peer, id, answers, done } = await asking();
  const prompt = peer.prompt(id, "x");
  const question = await peer.find((m) => m["method"] === "session/request_permission");
  await peer.send({ method: "session/cancel", params: { sessionId: id } });
  assert.equal(fieldsOf((await prompt)["result"])["stopReason"], "cancelled");
  assert.deepEqual(answers, [{ kind: "cancelled" }]);
  const result = { outcome: { outcome: "selected", optionId: "allow_once" } };
  await peer.send({ id: question["id"], result });
  const ended = peer.updates("tool_call_update").at(-1);
  assert.equal(ended?.["status"], "failed");
  assert.ok(listOf(ended?.["content"]).length > 0);
  await peer.end();
  await done;
});

test("a question that the editor closes just before its cancel counts as cancelled", async () => {
  const { peer, id, answers, done } = await asking();
  peer.onRequest = (message) => {
    void peer.send({ id: message["id"], result: { outcome: { outcome: "cancelled" } } });
    setTimeout(() => void peer.send({ method: "session/cancel", params: { sessionId: id } }), 10);
  };
  assert.equal(fieldsOf((await peer.prompt(id, "x"))["result"])["stopReason"], "cancelled");
  assert.deepEqual(answers, [{ kind: "cancelled" }]);
  await peer.end();
  await done;
});

test("an editor that goes away refuses what it was asked", async () => {
  const { peer, id, answers, done } = await asking();
  peer.prompt(id, "x").catch(() => {});
  await peer.find((m) => m["method"] === "session/request_permission");
  await peer.end();
  await done;
  assert.notEqual(answers[0]?.kind, "allow_once");
  assert.equal(answers.length, 1);
});
