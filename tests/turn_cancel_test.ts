import assert from "node:assert/strict";
import { test } from "node:test";
import { bash } from "./support/agents.ts";
import { onUser } from "./support/model_server.ts";
import { asksAgain, still, withTurn } from "./support/turn_stage.ts";

test("a cancel during the answer reaches the model server at once and keeps what was said", () =>
  withTurn([
    onUser("Go", { chunks: ["So", " far"], hang: true, holdAfter: 2 }),
    still,
  ], async (stage) => {
    const { editor, server, session } = stage;
    const prompt = editor.prompt(session, "Go");
    await editor.waitForText(session, "So far");
    const cancelled = performance.now();
    editor.cancel(session);
    assert.equal((await prompt).stopReason, "cancelled");
    assert.equal(await server.requests[0]?.done, "aborted");
    assert.ok(performance.now() - cancelled < 1000);
    assert.equal((await asksAgain(stage))[1], "assistant: So far\n[cancelled by the user]");
  }));

test("a cancel before the first word leaves a mark and no empty answer", () =>
  withTurn([onUser("Go", { hang: true }), still], async (stage) => {
    const { editor, server, session } = stage;
    const prompt = editor.prompt(session, "Go");
    await server.waitForRequest(() => true);
    editor.cancel(session);
    assert.equal((await prompt).stopReason, "cancelled");
    assert.equal((await asksAgain(stage))[1], "assistant: [cancelled by the user]");
  }));

test("a cancel during a command ends all its processes, and the other calls get a result", () =>
  withTurn([
    onUser("Go", { toolCalls: [bash("touch started; sleep 300 | cat"), bash("touch never")] }),
    still,
  ], async (stage) => {
    const { p, editor, session } = stage;
    const prompt = editor.prompt(session, "Go");
    await editor.waitForUpdate((u) => u.update.status === "in_progress");
    const cancelled = performance.now();
    editor.cancel(session);
    assert.equal((await prompt).stopReason, "cancelled");
    assert.ok(performance.now() - cancelled < 3000);
    assert.equal(p.exists("never"), false);
    const states = editor.toolCalls(session).map((c) => c.status);
    assert.ok(states.every((s) => s === "failed"), `${states}`);
    const messages = await asksAgain(stage);
    assert.deepEqual(messages.slice(1, 5).map((m) => m.split(":")[0]), [
      "assistant",
      "tool",
      "tool",
      "assistant",
    ]);
  }));

test("a cancel during the wait for the next attempt ends the turn at once", () =>
  withTurn([
    onUser("Go", { status: 503, body: "later", headers: { "retry-after": "50" } }),
    still,
  ], async (stage) => {
    const { editor, session } = stage;
    const prompt = editor.prompt(session, "Go");
    await editor.waitForUpdate((u) => /trying again in 50 s/.test(u.update.content?.text ?? ""));
    const cancelled = performance.now();
    editor.cancel(session);
    assert.equal((await prompt).stopReason, "cancelled");
    assert.ok(performance.now() - cancelled < 1000);
    assert.equal((await asksAgain(stage))[1], "assistant: [cancelled by the user]");
  }));
