/** Subagents that go on after their end: in the queue, without what was saved, and until they are let go. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import process from "node:process";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type AgentStage, idsIn, runCalls, withStage } from "./support/agent_stage.ts";
import { delegate } from "./support/agents.ts";
import { processesOf } from "./support/leftovers.ts";
import { always, onUser } from "./support/model_server.ts";
import { savedFiles } from "./support/saved_files.ts";

const { list, send, wait } = runCalls;

test("a run that goes on waits in the queue where all slots are taken, and its turn comes", () => {
  const go = Promise.withResolvers<void>();
  return withStage([
    onUser("First", { text: "One." }),
    onUser("Second", { text: "Two.", holdUntil: go.promise }),
    onUser("more", { text: "Three." }),
  ], async (stage) => {
    const first = await stage.start("First");
    await stage.call(wait());
    const second = await stage.start("Second");
    await stage.asked("Second");
    const [told = "", listed = ""] = await stage.call(send(first, "more"), list());
    assert.match(told, /goes on with the message/u);
    assert.match(listed, new RegExp(`${first} \\| general-purpose \\| queued `, "u"));
    assert.equal(stage.theirs.length, 2);
    go.resolve();
    const ends = (await stage.finish()).map(({ id, round, result }) => [id, round, result]);
    assert.deepEqual(ends.filter(([id]) => id === first), [[first, 2, "Three."]]);
    assert.deepEqual(ends.filter(([id]) => id === second), [[second, 1, "Two."]]);
    assert.equal(ends.length, 2);
  }, { agents: { maxParallel: 1 } });
});

test("a run that cannot go on stays as it ended, with the reason", () =>
  withStage([always({ text: "Done." })], async (stage) => {
    const id = await stage.start("Work");
    await stage.call(wait());
    const [child] = (await processesOf(stage.p.mark)).filter(({ command }) =>
      command.includes(" -agent ")
    );
    assert.ok(child !== undefined);
    process.kill(child.pid, "SIGKILL");
    while (existsSync(`/proc/${child.pid}`)) await sleep(5);
    for (let times = 0; times < 2; times++) {
      const [refused = "", listed = ""] = await stage.call(send(id, "more"), list());
      assert.match(refused, /^Not sent: .* takes no messages: nothing of its conversation was/u);
      assert.match(listed, / \| completed \| .* \| resume_blocked_reason: nothing of its/u);
    }
    assert.equal(stage.theirs.length, 1);
    assert.equal(stage.ends.length, 1);
  }, { sessions: { enabled: false } }));

test("the runs that are let go to make room give up their sessions, and the others keep theirs", () =>
  withStage([always({ text: "Done." })], async (stage) => {
    const ids: string[] = [];
    for (const part of ["A", "B", "C", "D"]) {
      const calls = Array.from({ length: 9 }, (_, at) => delegate(`Work ${part}${at}`));
      ids.push(...idsIn((await stage.call(...calls)).join()));
      await stage.call(wait());
    }
    assert.equal(ids.length, 36);
    const [listed = ""] = await stage.call(list());
    const kept = idsIn(listed);
    // Calls of one answer begin in any order.
    const [gone = "", ...others] = ids.slice(0, 9).filter((id) => !kept.includes(id));
    assert.deepEqual([kept.length, others.length], [32, 3]);
    await locks(stage, 32);
    const [unknown = "", sent = ""] = await stage.call(
      send(gone, "more"),
      send(kept[0] ?? "", "more"),
    );
    assert.match(unknown, /^There is no subagent/u);
    assert.match(sent, /goes on with the message/u);
    assert.deepEqual((await stage.finish()).map(({ id, round }) => [id, round]), [[kept[0], 2]]);
    await locks(stage, 32);
  }));

/** Waits until so many conversations of subagents are open. */
async function locks({ p }: AgentStage, count: number): Promise<void> {
  const deadline = performance.now() + 10_000;
  for (;;) {
    const files = await savedFiles(p, join(p.stateDir, "subagents"));
    const open = files.filter(({ name }) => name.endsWith(".lock")).length;
    if (open === count) return;
    assert.ok(performance.now() < deadline, `${open} are open, not ${count}`);
    await sleep(10);
  }
}
