/** How many subagents work at the same time: those that are waited for, in the background, and continued. */
import assert from "node:assert/strict";
import { rename } from "node:fs/promises";
import { test } from "node:test";
import { endsIn, lastResults, runCalls, textsOf, withStage } from "./support/agent_stage.ts";
import { delegate } from "./support/agents.ts";
import { onUser, type RecordedRequest } from "./support/model_server.ts";

const { list, send, stop, wait } = runCalls;
const ONE = { agents: { maxParallel: 1 } };
const INLINE = { run_in_background: false };

/** The questions of subagents in the order they came. */
const questions = (requests: readonly RecordedRequest[]) =>
  requests.map(({ lastUser }) => lastUser);

test("with one slot the second run begins when the first has ended, and waits without a request", () => {
  const go = Promise.withResolvers<void>();
  return withStage([
    onUser("Sleep", { text: "Slept.", holdUntil: go.promise }),
    onUser("Write", { text: "Written." }),
  ], async (stage) => {
    const [first = "", second = ""] = await stage.call(delegate("Sleep"), delegate("Write"));
    assert.match(first, /^Started .* background\. Its result/u);
    assert.match(second, /^Started .* background\. 1 more at work or waiting\./u);
    const asked = await stage.asked("Sleep");
    let ended = 0;
    void asked.done.then(() => ended = performance.now());
    const [listed = ""] = await stage.call(list());
    assert.match(listed, /\| running \|[^\n]*\n.*\| queued \|/u);
    assert.deepEqual(questions(stage.theirs), ["Sleep"]);
    go.resolve();
    await stage.call(wait());
    assert.deepEqual(stage.ends.map(({ result }) => result), ["Slept.", "Written."]);
    assert.deepEqual(questions(stage.theirs), ["Sleep", "Write"]);
    assert.ok(ended > 0 && (stage.theirs[1]?.at ?? 0) >= ended);
  }, ONE);
});

test("runs that are waited for share the slots, and say that they wait", () => {
  const go = Promise.withResolvers<void>();
  return withStage([
    onUser("Behind", { text: "From behind.", holdUntil: go.promise }),
    onUser("Left", { text: "The left." }),
    onUser("Right", { text: "The right." }),
  ], async (stage) => {
    const { editor, session } = stage;
    await stage.start("Behind");
    await stage.asked("Behind");
    const step = stage.plan([delegate("Left", INLINE), delegate("Right", INLINE)]);
    const prompt = editor.prompt(session, step);
    await editor.waitForUpdate((u) => JSON.stringify(u.update).includes("[waits for 1 other run]"));
    await editor.waitForUpdate((u) =>
      JSON.stringify(u.update).includes("[waits for 2 other runs]")
    );
    assert.deepEqual(questions(stage.theirs), ["Behind"]);
    go.resolve();
    await prompt;
    assert.deepEqual(lastResults(stage.answered(step)), ["The left.", "The right."]);
    assert.equal(stage.server.maxOpen, 2);
    const [, left, right] = stage.theirs;
    assert.deepEqual([left?.lastUser, right?.lastUser], ["Left", "Right"]);
  }, ONE);
});

test("a run that is stopped while it waits asks no model, and the next one gets the slot", () => {
  const go = Promise.withResolvers<void>();
  return withStage([
    onUser("Sleep", { text: "Slept.", holdUntil: go.promise }),
    onUser("Next", { text: "Next." }),
  ], async (stage) => {
    const { editor, session } = stage;
    const first = await stage.start("Sleep");
    await stage.asked("Sleep");
    const waiting = await stage.start("Never");
    const next = await stage.start("Next");
    const [stopped = ""] = await stage.call(stop(waiting));
    assert.deepEqual(endsIn(stopped).map(({ id, status }) => [id, status]), [
      [waiting, "cancelled"],
    ]);
    // One that is waited for leaves the row with its turn.
    const turn = editor.prompt(session, stage.plan([delegate("Never either", INLINE)]));
    await editor.waitForUpdate((u) =>
      JSON.stringify(u.update).includes("[waits for 2 other runs]")
    );
    editor.cancel(session);
    assert.equal((await turn).stopReason, "cancelled");
    go.resolve();
    await stage.call(wait());
    assert.deepEqual(stage.ends.map(({ id }) => id), [waiting, first, next]);
    assert.deepEqual(questions(stage.theirs), ["Sleep", "Next"]);
    const [after] = await stage.call(delegate("Next", INLINE));
    assert.equal(after, "Next.");
  }, ONE);
});

test("a run that cannot begin or fails gives its slot back", () =>
  withStage([
    onUser("Fail", { status: 400, body: { error: { message: "no" } } }),
    onUser("Work", { text: "Done it." }),
  ], async (stage) => {
    const { p } = stage;
    await rename(p.path("agent.yaml"), p.path("gone.yaml"));
    const [unstarted = ""] = await stage.call(delegate("Work", INLINE));
    assert.match(unstarted, /could not start/u);
    await rename(p.path("gone.yaml"), p.path("agent.yaml"));
    const [failed = "", worked] = await stage.call(
      delegate("Fail", INLINE),
      delegate("Work", INLINE),
    );
    assert.match(failed, /^\[general-purpose failed/u);
    assert.equal(worked, "Done it.");
  }, ONE));

test("a message to a run that ended waits for a slot like a new run, and is not refused", () => {
  const go = Promise.withResolvers<void>();
  return withStage([
    onUser("First", { text: "One." }),
    onUser("Second", { text: "Two.", holdUntil: go.promise }),
    onUser("And more", { text: "Three." }),
  ], async (stage) => {
    const first = await stage.start("First");
    await stage.call(wait());
    const second = await stage.start("Second");
    await stage.asked("Second");
    const [sent = "", listed = ""] = await stage.call(send(first, "And more"), list());
    assert.match(sent, /goes on with the message\. Its next result comes by itself/u);
    assert.match(listed, new RegExp(`${first} \\| general-purpose \\| queued`, "u"));
    assert.equal(stage.theirs.length, 2);
    go.resolve();
    await stage.call(wait());
    assert.deepEqual(
      stage.ends.map(({ id, round, result }) => [id, round, result]).sort(),
      [
        [first, 1, "One."],
        [first, 2, "Three."],
        [second, 1, "Two."],
      ].sort(),
    );
    assert.ok(textsOf(stage.theirs[2]).includes("One."));
  }, ONE);
});

test("a subagent that starts one of its own needs no second slot, so that one is enough", () =>
  withStage([
    onUser("Nest", { toolCalls: [delegate("Inner")] }),
    onUser("Inner", { text: "From within." }),
    (request) => request.last.role === "tool" ? { text: `So: ${request.last.text}` } : undefined,
  ], async (stage) => {
    assert.deepEqual(await stage.call(delegate("Nest", INLINE)), ["So: From within."]);
  }, ONE));
