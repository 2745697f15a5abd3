/** Subagents of before a restart that cannot go on: they are shown, with the reason. */
import assert from "node:assert/strict";
import { readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { type AgentStage, ofSubagent, runCalls, withStage } from "./support/agent_stage.ts";
import { bash } from "./support/agents.ts";
import { always, onTool, onUser } from "./support/model_server.ts";
import { writeAgent } from "./support/one_agent.ts";
import { conversationFiles } from "./support/saved_files.ts";

const { list, send, wait } = runCalls;

const HELPER = `---
name: helper
description: helps
---
You help with what you are told.
`;

/** The files of the subagents' own conversations, by their first prompt. */
async function transcripts({ p }: AgentStage): Promise<Map<string, string>> {
  const files = await conversationFiles(p, join(p.stateDir, "subagents"));
  return new Map(
    await Promise.all(files.map(async ({ path }) => {
      const text = await readFile(path, "utf8");
      return [/"title":"([^"]*)"/u.exec(text)?.[1] ?? "", path] as const;
    })),
  );
}

test("what cannot go on after a restart is shown with its reason, and nothing of it is started", () =>
  withStage([
    onUser("Finish", { text: "Finished." }),
    always({ hang: true }),
  ], async (stage) => {
    const { p } = stage;
    const file = await p.write(".mm/agents/helper.md", HELPER);
    const helper = await stage.start("Helping", { subagent_type: "helper" });
    const lost = await stage.start("Losing");
    const empty = await stage.start("Emptying");
    const done = await stage.start("Finish");
    await stage.call(wait(done));
    for (const text of ["Helping", "Losing", "Emptying"]) await stage.asked(text);
    for (const id of [helper, lost, empty]) await stage.saved(id, "running");
    await stage.kill();

    await rm(file);
    const saved = await transcripts(stage);
    await rm(saved.get("Losing") ?? "");
    await truncate(saved.get("Emptying") ?? "");
    await rm(saved.get("Finish") ?? "");
    await stage.open();
    const [listed = "", ...refused] = await stage.call(
      list(),
      ...[helper, lost, empty, done].map((id) => send(id, "Go on")),
    );
    const reasons = [
      'there is no definition "helper" any more',
      ...[1, 2, 3].map(() => "nothing of its conversation was saved; start another one"),
    ];
    for (const [at, id] of [helper, lost, empty, done].entries()) {
      const status = id === done ? "completed" : "paused";
      const line = listed.split("\n")[at] ?? "";
      assert.ok(line.startsWith(`${id} | `), listed);
      assert.ok(line.includes(` | ${status} | `), line);
      assert.ok(line.includes(`resume_blocked_reason: ${reasons[at]}`), line);
      assert.equal(refused[at], `Not sent: ${id} takes no messages: ${reasons[at]}`);
    }
    // What was refused is as it was before.
    assert.deepEqual(await stage.call(list()).then(([text = ""]) => statuses(text)), [
      "paused",
      "paused",
      "paused",
      "completed",
    ]);
    assert.equal(stage.theirs.length, 4);
  }));

/** The status in each line of `list_agents`. */
function statuses(listed: string): (string | undefined)[] {
  return listed.split("\n").map((line) => line.split(" | ")[2]);
}

test("a run whose directory is gone cannot go on, and neither can one that was never begun", () =>
  withStage([always({ hang: true })], async (stage) => {
    const { p } = stage;
    await stage.start("First");
    await stage.asked("First");
    const queued = await stage.start("Second");
    await stage.kill();
    const path = await stage.recordFile();
    const records = await readFile(path, "utf8");
    await writeFile(path, records.replaceAll(`"cwd":"${p.dir}"`, `"cwd":"${p.dir}/gone"`));
    await stage.open();
    const [listed = ""] = await stage.call(list());
    const [first = "", second = ""] = listed.split("\n");
    assert.match(first, /resume_blocked_reason: its directory is gone/u);
    assert.match(second, /resume_blocked_reason: its directory is gone/u);
    assert.ok(second.startsWith(queued), listed);
  }, { agents: { maxParallel: 1 } }));

test("a run that goes on has the permissions of the mm that goes on with it", () =>
  withStage([
    onUser("Work", { toolCalls: [bash("echo under yolo > one")] }),
    onUser("Go on", { toolCalls: [bash("echo without > two")] }),
    onTool("exit status 0", { hang: true }),
    onTool("", ({ last }) => ({ text: `Told: ${last.text}` })),
  ], async (stage) => {
    const { p } = stage;
    const id = await stage.start("Work");
    await stage.server.waitForRequest((r) => ofSubagent(r) && r.last.role === "tool");
    assert.equal(await p.read("one"), "under yolo\n");
    await stage.kill();
    await writeAgent(p, stage.server, {});
    await stage.open();
    stage.editor.onPermission = "reject_once";
    const [end] = await stage.finish(send(id, "Go on"));
    assert.match(end?.result ?? "", /^Told: Not run: the user rejected/u);
    const [question, ...others] = stage.editor.permissions;
    assert.equal(question?.toolCall.name ?? question?.toolCall.title, "general-purpose/bash");
    assert.equal(others.length, 0);
    assert.ok(!p.exists("two"));
  }));
