/**
 * Messages that reach an agent while it works, over the private request `_mm/steer`.
 *
 * @module
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bash } from "./support/agents.ts";
import { always, inOrder, onTool, onUser } from "./support/model_server.ts";
import { type Stage, withTurn } from "./support/turn_stage.ts";
import { textOfMessage } from "./support/wire.ts";

const FRAME = "[message from the agent that started you]\n";

/** Runs until the file exists. */
const until = (file: string) => bash(`until [ -e ${file} ]; do sleep 0.02; done; echo met`);

async function steer({ editor, session }: Stage, text: string): Promise<boolean> {
  return (await editor.request("_mm/steer", { sessionId: session, text })).accepted;
}

const commandsRun = ({ editor }: Stage) =>
  editor.waitForUpdate((u) => u.update.status === "in_progress");

test("a message during tool calls stands behind the last result of the round, in order", () =>
  withTurn([
    onUser("Go", { toolCalls: [until("a"), bash("echo second")] }),
    onTool("second", { text: "Done." }),
  ], async (stage) => {
    const { p, editor, server, session } = stage;
    const prompt = editor.prompt(session, "Go");
    await commandsRun(stage);
    assert.equal(await steer(stage, "Mind the gap"), true);
    assert.equal(await steer(stage, "And the train"), true);
    await p.write("a", "");
    assert.equal((await prompt).stopReason, "end_turn");
    const results = (server.requests[1]?.messages ?? []).filter((m) => m.role === "tool")
      .map(textOfMessage);
    assert.deepEqual(results, [
      "met\n[exit status 0]",
      `second\n[exit status 0]\n\n${FRAME}Mind the gap\n\n${FRAME}And the train`,
    ]);
    assert.equal(server.requests.length, 2);
    assert.equal(await steer(stage, "Too late"), false);
  }));

test("a message during the last answer is a question behind it, and the turn goes on", () => {
  const go = Promise.withResolvers<void>();
  return withTurn([
    onUser("Go", { chunks: ["First", " answer"], holdUntil: go.promise, holdAfter: 1 }),
    onUser("One more thing", { text: "Second answer" }),
  ], async (stage) => {
    const { editor, server, session } = stage;
    const prompt = editor.prompt(session, "Go");
    await editor.waitForText(session, "First");
    assert.equal(await steer(stage, "One more thing"), true);
    go.resolve();
    assert.equal((await prompt).stopReason, "end_turn");
    const [, request] = server.requests;
    assert.deepEqual(request?.messages.slice(-2).map((m) => [m.role, textOfMessage(m)]), [
      ["assistant", "First answer"],
      ["user", `${FRAME}One more thing`],
    ]);
    assert.equal(editor.text(session), "First answerSecond answer");
  });
});

test("a message is not accepted once no request of the turn could tell it", () => {
  const go = Promise.withResolvers<void>();
  return withTurn([
    onUser("Go", { toolCalls: [until("a")] }),
    onTool("met", { chunks: ["Last", " answer"], holdUntil: go.promise, holdAfter: 1 }),
  ], async (stage) => {
    const { p, editor, server, session } = stage;
    const prompt = editor.prompt(session, "Go");
    await commandsRun(stage);
    assert.equal(await steer(stage, "In time"), true);
    await p.write("a", "");
    await editor.waitForText(session, "Last");
    assert.equal(await steer(stage, "Too late"), false);
    go.resolve();
    assert.equal((await prompt).stopReason, "end_turn");
    assert.equal(server.requests.length, 2);
    assert.ok(server.requests[1]?.last.text.endsWith(`${FRAME}In time`));
  }, { maxTurns: 2 });
});

test("what was accepted and the turn could not read begins the next prompt", () => {
  const fail = Promise.withResolvers<void>();
  return withTurn([
    onUser("Go", {
      holdUntil: fail.promise,
      status: 400,
      body: { error: { message: "Not today" } },
    }),
    onUser("Again", { text: "Fine." }),
  ], async (stage) => {
    const { editor, server, session } = stage;
    const failed = assert.rejects(editor.prompt(session, "Go"), /Not today/u);
    await server.waitForRequest(() => true);
    assert.equal(await steer(stage, "Use tabs"), true);
    fail.resolve();
    await failed;
    await editor.prompt(session, "Again");
    assert.equal(server.requests[1]?.lastUser, `${FRAME}Use tabs\n\nAgain`);
  });
});

test("a message during a cancelled turn is not accepted", () =>
  withTurn([onUser("Go", { hang: true })], async (stage) => {
    const { editor, server, session } = stage;
    const prompt = editor.prompt(session, "Go");
    await server.waitForRequest(() => true);
    editor.cancel(session);
    assert.equal(await steer(stage, "Too late"), false);
    assert.equal((await prompt).stopReason, "cancelled");
  }));

test("whenever messages come, each that is accepted is read once, in order, and no other one", () =>
  withTurn([
    inOrder(
      ...Array.from({ length: 12 }, (_, n) => ({ toolCalls: [bash(`sleep 0.03; echo ${n}`)] })),
    ),
    always({ chunks: ["So", " it", " is"], chunkDelayMs: 10 }),
  ], async (stage) => {
    const { editor, server, session } = stage;
    const over = { yes: false };
    const prompt = editor.prompt(session, "Go").finally(() => over.yes = true);
    await server.waitForRequest(() => true);
    const accepted: string[] = [];
    // Fewer than the requests the model may make, so that it comes to an end.
    for (let n = 0; !over.yes && n < 60; n++) {
      if (await steer(stage, `message ${n}!`)) accepted.push(`message ${n}!`);
    }
    await prompt;
    const told = (server.requests.at(-1)?.messages ?? []).map(textOfMessage).join("\n")
      .split("\n").filter((line) => /^message \d+!$/u.test(line));
    assert.ok(accepted.length > 0);
    assert.deepEqual(told, accepted);
  }));

test("a JSON agent's answer before a message is no answer", () => {
  const go = Promise.withResolvers<void>();
  const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
  return withTurn([
    onUser("Go", { chunks: ['{"n":', "1}"], holdUntil: go.promise, holdAfter: 1 }),
    onUser("Make it two", { text: '{"n":2}' }),
  ], async (stage) => {
    const { editor, server, session } = stage;
    const prompt = editor.prompt(session, "Go");
    await server.waitForRequest(() => true);
    assert.equal(await steer(stage, "Make it two"), true);
    go.resolve();
    assert.equal((await prompt).stopReason, "end_turn");
    assert.equal(editor.text(session), '{"n":2}');
  }, { structuredOutput: { schema } });
});
