import assert from "node:assert/strict";
import { test } from "node:test";
import { type Json, RpcError } from "./support/acp_editor.ts";
import { askAgent, bash, writeAgents } from "./support/agents.ts";
import { always, forModel, inOrder, onTool, onUser } from "./support/model_server.ts";
import { oneAgent } from "./support/one_agent.ts";
import { withProject } from "./support/project.ts";
import { messages } from "./support/wire_messages.ts";

test("every way a prompt can end has exactly one answer, and the session goes on after each", () =>
  withProject(async (p) => {
    await oneAgent(p, [
      onUser("fine", { text: "Fine." }),
      onUser("long", { text: "Half", finish: "length" }),
      onUser("bad", { text: "No.", finish: "content_filter" }),
      onUser("error", { status: 400, body: { error: { message: "boom" } } }),
      onUser("silent", { hang: true }),
      onUser("cut", { chunks: ["a", "b"], cutAfter: 1 }),
      onUser("empty", { text: "" }),
      onUser("nonsense", { raw: "data: {broken\n\n", headers: { "retry-after": "0" } }),
      onUser("html", { body: "<html>", headers: { "content-type": "text/html" } }),
      always({ toolCalls: [bash("true")] }),
    ], { yolo: true, watchdogTimeout: "1s", maxTurns: 2 });
    const editor = p.editor();
    const session = await editor.start();
    const ends: readonly (readonly [string | Json[], string | number])[] = [
      ["fine", "end_turn"],
      ["long", "max_tokens"],
      ["bad", "refusal"],
      ["turns", "max_turn_requests"],
      ["error", -32603],
      ["silent", -32603],
      ["cut", -32603],
      ["empty", -32603],
      ["nonsense", -32603],
      ["html", -32603],
      ["/status", "end_turn"],
      ["/nothing", -32603],
      ["/quit", "end_turn"],
      ["  ", -32602],
      [[], -32602],
      [[{ type: "audio", data: "", mimeType: "audio/wav" }], -32602],
      [[{ type: "image", data: "", mimeType: "image/png" }], -32602],
    ];
    for (const [prompt, end] of ends) {
      const got = await editor.prompt(session, prompt).then(
        (result) => result.stopReason,
        (error) => error instanceof RpcError ? error.code : error,
      );
      assert.equal(got, end, JSON.stringify(prompt));
    }
    await assert.rejects(editor.prompt("nobody", "fine"), /-32002.*nobody/);
    assert.equal((await editor.prompt(session, "fine")).stopReason, "end_turn");
    // One answer for each request: a second one for any would be a fault of the wire, too.
    const ids = messages(editor).filter((m) => m.method === undefined).map((m) => m.id);
    assert.equal(new Set(ids).size, ids.length);
    assert.equal(ids.length, ends.length + 4);
  }));

test("an error carries its sentence where editors look for it, without a stack", () =>
  withProject(async (p) => {
    await oneAgent(p, always({ status: 400, body: { error: { message: "boom" } } }));
    const editor = p.editor();
    const session = await editor.start();
    await assert.rejects(editor.prompt(session, "Go"), (error: RpcError) => {
      assert.match(error.data.details, /^Cannot get an answer from "m" at http.*HTTP 400: boom$/);
      assert.ok(error.message.includes(error.data.details));
      assert.doesNotMatch(JSON.stringify(error.data), /\.ts:\d|at async/);
      return true;
    });
  }));

test("a call is announced before anything else about it, and ends whatever happens", () =>
  withProject(async (p) => {
    await oneAgent(p, [
      onUser("Go", {
        toolCalls: [
          bash("echo fine"),
          bash("exit 3"),
          { name: "read", arguments: { path: "nope" } },
          { name: "nonsense", arguments: {} },
        ],
      }),
      onUser("Stop", {
        toolCalls: [{ name: "read", arguments: { path: "agent.yaml" } }, bash("sleep 300")],
      }),
      onTool("", { text: "ok" }),
    ]);
    const editor = p.editor();
    const session = await editor.start();
    editor.onPermission = "allow_once";
    await editor.prompt(session, "Go");
    const stopping = editor.prompt(session, "Stop");
    await editor.waitForUpdate((u) =>
      u.update.status === "in_progress" &&
      editor.toolCalls(session).some((c) =>
        c.toolCallId === u.update.toolCallId && /sleep/.test(c.title)
      )
    );
    editor.cancel(session);
    assert.equal((await stopping).stopReason, "cancelled");

    const announced = new Set<string>();
    for (const message of messages(editor)) {
      const update = message.params?.update;
      if (update?.sessionUpdate === "tool_call") {
        assert.equal(update.status, "pending");
        assert.ok(!announced.has(update.toolCallId));
        announced.add(update.toolCallId);
      } else if (update?.sessionUpdate === "tool_call_update") {
        assert.ok(announced.has(update.toolCallId));
      } else if (message.method === "session/request_permission") {
        assert.ok(announced.has(message.params.toolCall.toolCallId));
      }
    }
    const states = editor.toolCalls(session).map((c) => c.status);
    assert.equal(states.length, 6);
    assert.ok(states.every((s) => s === "completed" || s === "failed"), `${states}`);
    assert.equal(states.at(-1), "failed");
  }));

test("prompts of one session run one after the other and are answered in that order", () =>
  withProject(async (p) => {
    const gate = Promise.withResolvers<void>();
    const server = await oneAgent(p, [
      onUser("One", { text: "First.", holdUntil: gate.promise }),
      onUser("Two", { text: "Second." }),
    ]);
    const editor = p.editor();
    const session = await editor.start();
    const order: string[] = [];
    const one = editor.prompt(session, "One").then(() => order.push("one"));
    const two = editor.prompt(session, "Two").then(() => order.push("two"));
    await server.waitForRequest(() => true);
    const other = await editor.newSession();
    await editor.prompt(other, "Two");
    order.push("other");
    assert.equal(server.requests.length, 2);
    gate.resolve();
    await Promise.all([one, two]);
    assert.deepEqual(order, ["other", "one", "two"]);
    assert.equal(editor.text(session), "First.Second.");
    assert.equal(server.maxOpen, 2);
  }));

test("a cancel reaches the prompt that runs and those that wait, and nothing after them", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, [
      onUser("One", { hang: true }),
      onUser("Three", { text: "Third." }),
    ]);
    const editor = p.editor();
    const session = await editor.start();
    const first = editor.prompt(session, "One");
    const second = editor.prompt(session, "Two");
    await server.waitForRequest(() => true);
    editor.cancel(session);
    const third = editor.prompt(session, "Three");
    assert.equal((await first).stopReason, "cancelled");
    assert.equal((await second).stopReason, "cancelled");
    assert.equal((await third).stopReason, "end_turn");
    assert.equal(editor.text(session), "Third.");
    assert.ok(!server.requests.some((r) => /Two/.test(r.raw)));
  }));

test("a cancel in the same breath as the prompt cancels it, one for nothing does nothing", () =>
  withProject(async (p) => {
    // Held back, so that a cancel that comes a moment later is not late.
    await oneAgent(p, [onUser("Go", { hang: true }), onUser("Again", { text: "Gone." })]);
    const editor = p.editor();
    const session = await editor.start();
    editor.cancel(session);
    editor.cancel("nobody");
    const prompt = editor.prompt(session, "Go");
    editor.cancel(session);
    assert.equal((await prompt).stopReason, "cancelled");
    assert.equal((await editor.prompt(session, "Again")).stopReason, "end_turn");
  }));

test("$/cancel_request ends the one prompt it names, with the same answer", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, [onUser("One", { hang: true }), always({ text: "ok" })]);
    const editor = p.editor();
    const session = await editor.start();
    const one = editor.prompt(session, "One");
    const two = editor.prompt(session, "Two");
    await server.waitForRequest(() => true);
    // Requests are counted from 1: initialize, session/new, then the prompt.
    editor.notify("$/cancel_request", { requestId: 3 });
    assert.equal((await one).stopReason, "cancelled");
    assert.equal((await two).stopReason, "end_turn");
  }));

for (
  const [what, late] of [
    ["as the protocol wants it", (q: { cancel(): void }) => q.cancel()],
    ["with a late yes", (q: { choose(kind: string): void }) => q.choose("allow_once")],
    ["with a late yes for ever", (q: { choose(kind: string): void }) => q.choose("allow_always")],
    ["not at all", () => {}],
  ] as const
) {
  test(`a cancel ends an open question at once, answered ${what}; nothing runs`, () =>
    withProject(async (p) => {
      const server = await oneAgent(p, [
        onUser("Go", { toolCalls: [bash("touch ran")] }),
        onTool("", { text: "ok" }),
      ]);
      const editor = p.editor();
      const session = await editor.start();
      const prompt = editor.prompt(session, "Go");
      const question = await editor.waitForPermission();
      editor.cancel(session);
      assert.equal((await prompt).stopReason, "cancelled");
      late(question);
      // A second question shows that the late answer allowed nothing.
      const again = editor.prompt(session, "Go");
      const second = await editor.waitForPermission((q) => q.id !== question.id);
      second.choose("reject_once");
      assert.equal((await again).stopReason, "end_turn");
      assert.equal(p.exists("ran"), false);
      assert.equal(server.requests.length, 3);
      assert.deepEqual(editor.toolCalls(session).map((c) => c.status), ["failed", "failed"]);
    }));
}

test("a cancel ends bob's open question as well, and he works on afterwards", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel("you", inOrder({ toolCalls: [askAgent("bob", "Go")] }, { text: "ok" })),
        forModel("bob", onUser("Go", { toolCalls: [bash("touch ran")] })),
        forModel("bob", onUser("Hi", { text: "Hello." })),
      ],
    });
    await writeAgents(p, { server, you: { permissions: { allow: ["ask_agent"] } } });
    const editor = p.editor();
    const session = await editor.start();
    const prompt = editor.prompt(session, "Ask him");
    const question = await editor.waitForPermission();
    assert.match(question.toolCall.title, /^bob\/bash/);
    editor.cancel(session);
    assert.equal((await prompt).stopReason, "cancelled");
    question.choose("allow_always");
    await editor.prompt(session, "/ask-bob Hi");
    assert.match(editor.text(session), /Hello\.$/);
    assert.equal(p.exists("ran"), false);
    const states = editor.toolCalls(session).map((c) => c.status);
    assert.deepEqual(states, ["failed", "failed"]);
  }));

test("a question that the editor cannot show refuses at once, with the true reason", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, [
      onUser("Go", { toolCalls: [bash("touch ran")] }),
      onTool("", { text: "ok" }),
    ]);
    const editor = p.editor();
    const session = await editor.start();
    for (
      const [answer, words] of [
        [{ outcome: { outcome: "selected", optionId: "yes!" } }, /option that was not offered/],
        [{ outcome: { outcome: "cancelled" } }, /closed without an answer/],
        [{ outcome: "allow" }, /^Not run: /],
        [{}, /^Not run: /],
      ] as const
    ) {
      editor.onPermission = (question) => question.answer(answer);
      assert.equal((await editor.prompt(session, "Go")).stopReason, "end_turn");
      const told = server.requests.at(-1)?.last.text ?? "";
      assert.match(told, words);
      assert.match(told, /^Not run: /);
      assert.doesNotMatch(told, /user rejected|denied/);
    }
    assert.equal(p.exists("ran"), false);
  }));
