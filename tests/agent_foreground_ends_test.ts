/** How subagents that are waited for end, and what is left of them. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { rename } from "node:fs/promises";
import process from "node:process";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { lastResults, ofSubagent, textsOf, withStage } from "./support/agent_stage.ts";
import { bash, delegate } from "./support/agents.ts";
import { processesOf } from "./support/leftovers.ts";
import { mcpServer } from "./support/mcp_server.ts";
import { onTool, onUser } from "./support/model_server.ts";

const INLINE = { run_in_background: false };

/** Only /proc tells which processes there are. */
const looking = { skip: existsSync("/proc/self/status") ? false : "this system has no /proc" };

test("a subagent that fails leaves a sentence that says why, and its agent goes on", () =>
  withStage([
    onUser("Fail", { status: 400, body: { error: { message: "The template is broken" } } }),
    onUser("Say nothing", { text: "" }),
    onUser("Refuse", { text: "I would rather not", finish: "content_filter" }),
    onUser("Work", { text: "Done it." }),
  ], async (stage) => {
    const results = await stage.call(
      delegate("Fail", INLINE),
      delegate("Say nothing", INLINE),
      delegate("Refuse", INLINE),
      delegate("Work", INLINE),
    );
    assert.match(results[0] ?? "", /^\[general-purpose failed: .*The template is broken.*\]$/mu);
    assert.match(results[1] ?? "", /^\[general-purpose failed: .*gave an empty answer twice\]$/mu);
    assert.match(
      results[2] ?? "",
      /^I would rather not\n\[general-purpose stopped before the end: the model refused\]/u,
    );
    assert.equal(results[3], "Done it.");
    const calls = stage.editor.toolCalls(stage.session);
    assert.deepEqual(calls.map(({ status }) => status), [
      "failed",
      "failed",
      "failed",
      "completed",
    ]);
    assert.equal(stage.editor.text(stage.session), "Done.");
  }));

test("a subagent that cannot be started says so, and leaves no process", () =>
  withStage([onUser("Work", { text: "Done it." })], async (stage) => {
    const { p } = stage;
    await rename(p.path("agent.yaml"), p.path("gone.yaml"));
    const before = await processesOf(p.mark);
    const [failed = ""] = await stage.call(delegate("Work", INLINE));
    assert.match(failed, /^\[general-purpose failed: it could not start: .*agent\.yaml.*\]$/su);
    assert.deepEqual(stage.theirs, []);
    await onlyLeft(p.mark, before.map(({ pid }) => pid));
    // What went wrong is over: the next call works.
    await rename(p.path("gone.yaml"), p.path("agent.yaml"));
    assert.deepEqual(await stage.call(delegate("Work", INLINE)), ["Done it."]);
  }));

test("two subagents that are waited for work at the same time, and a third beside a command", () => {
  const both = Promise.withResolvers<void>();
  return withStage([
    onUser("Left", { text: "The left.", holdUntil: both.promise }),
    onUser("Right", { text: "The right.", holdUntil: both.promise }),
  ], async (stage) => {
    const prompt = stage.call(delegate("Left", INLINE), delegate("Right", INLINE));
    const [left, right] = await Promise.all([stage.asked("Left"), stage.asked("Right")]);
    // Neither was answered when the other one came.
    assert.deepEqual([left.state, right.state], ["open", "open"]);
    both.resolve();
    assert.deepEqual(await prompt, ["The left.", "The right."]);
    assert.equal(stage.server.maxOpen, 2);
  });
});

test("a cancel of the turn reaches the subagent and what it runs, and its words are shown", () =>
  withStage([
    onUser("Think", { chunks: ["So", " far"], hang: true, holdAfter: 2 }),
    onUser("Run", { toolCalls: [bash("touch begun; sleep 600")] }),
    onUser("Still", { text: "Still there." }),
  ], async (stage) => {
    const { editor, session, p } = stage;
    const step = stage.plan([delegate("Think", INLINE), delegate("Run", INLINE)]);
    const prompt = editor.prompt(session, step);
    const thinking = await stage.asked("Think");
    await stage.fileIs("begun");
    await editor.waitForUpdate((u) => JSON.stringify(u.update).includes("So far"));
    editor.cancel(session);
    assert.equal((await prompt).stopReason, "cancelled");
    assert.equal(await thinking.done, "aborted");
    await gone(p.mark, "sleep 600");
    // The next turn finds a conversation in order, and the same subagents.
    const [again] = await stage.call(delegate("Still", INLINE));
    assert.equal(again, "Still there.");
    // What was found out by then is not lost.
    const [thought = "", ran = ""] = textsOf(stage.own.at(-1)).filter((text) =>
      text.includes("cancelled")
    );
    assert.match(thought, /^So far\n\[general-purpose was cancelled\]/u);
    assert.match(ran, /^\[general-purpose was cancelled\]/u);
  }));

test(
  "runs of a subagent share its process and its MCP server, and none adds one, however it ends",
  looking,
  () =>
    withStage([
      onUser("Answer", { text: "Here." }),
      onUser("Fail", { status: 400, body: { error: { message: "no" } } }),
      onUser("Hang", { hang: true }),
    ], async (stage) => {
      const { p, editor, session } = stage;
      await stage.call(delegate("Answer", INLINE));
      assert.ok(stage.theirs[0]?.toolNames.some((name) => name.startsWith("mcp__t__")));
      const all = await processesOf(p.mark);
      // One is the agent's own, one its subagent's.
      assert.equal(all.filter(isMcp).length, 2);
      const only = () => onlyLeft(p.mark, all.map(({ pid }) => pid));
      await stage.call(delegate("Fail", INLINE));
      await only();
      const prompt = editor.prompt(session, stage.plan([delegate("Hang", INLINE)]));
      await stage.asked("Hang");
      editor.cancel(session);
      assert.equal((await prompt).stopReason, "cancelled");
      await only();
      await stage.kill();
      await gone(p.mark, "");
    }, { mcpServers: { t: mcpServer() } }),
);

test(
  "a subagent whose process dies is told as dead, and the next run starts another",
  looking,
  () =>
    withStage([
      onUser("Hang", { hang: true }),
      onUser("Work", { text: "Done it." }),
    ], async (stage) => {
      const step = stage.plan([delegate("Hang", INLINE)]);
      const prompt = stage.editor.prompt(stage.session, step);
      await stage.asked("Hang");
      const child = (await processesOf(stage.p.mark)).find(({ command }) =>
        command.includes("-agent general-purpose") && !command.startsWith("sh ")
      );
      assert.ok(child !== undefined);
      process.kill(child.pid, "SIGKILL");
      await prompt;
      const [dead] = lastResults(stage.answered(step));
      assert.match(dead ?? "", /^\[general-purpose was killed by SIGKILL.*\]$/u);
      assert.deepEqual(await stage.call(delegate("Work", INLINE)), ["Done it."]);
    }),
);

test("the end of mm ends the subagents it waits for, and all they run", () =>
  withStage([
    onUser("Run", { toolCalls: [bash("touch begun; sleep 600")] }),
    onUser("Nest", { toolCalls: [delegate("Run", {})] }),
    onTool("", { text: "Over." }),
  ], async (stage) => {
    const prompt = stage.editor.prompt(stage.session, stage.plan([delegate("Nest", INLINE)]));
    prompt.catch(() => {});
    await stage.fileIs("begun");
    assert.equal(stage.server.requests.filter(ofSubagent).length, 2);
    await stage.kill();
    await gone(stage.p.mark, "");
    await assert.rejects(prompt, /mm ended/u);
  }));

const isMcp = ({ command }: { readonly command: string }) => command.includes("mcp_server.ts");

/** Waits until of the processes of a test only these are left; only /proc tells. */
async function onlyLeft(
  mark: string,
  pids: readonly number[],
  counts: (one: { readonly command: string }) => boolean = () => true,
): Promise<void> {
  const deadline = performance.now() + 10_000;
  for (;;) {
    const more = (await processesOf(mark)).filter(counts).filter(({ pid }) => !pids.includes(pid));
    if (more.length === 0) return;
    assert.ok(performance.now() < deadline, more.map(({ command }) => command).join("\n"));
    await sleep(20);
  }
}

/** Waits until no process of a test has these words in its command. */
async function gone(mark: string, words: string): Promise<void> {
  await onlyLeft(mark, [], ({ command }) => command.includes(words));
}
