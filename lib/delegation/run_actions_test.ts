import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { idlePool } from "../agents/testing.ts";
import type { ToolContext } from "../tools/tool.ts";
import { testProject } from "../tools/testing.ts";
import { MAX_MODEL_CONTINUATIONS } from "./delegation_limits.ts";
import { createRunActions } from "./run_actions.ts";
import { type Prompt, runsStage, says, working } from "./runs_testing.ts";

const FROM = "[message from the agent that started you]\n";

/** The actions on a registry whose subagents answer with `prompts` in turn, then with "Done.". */
async function stage(t: TestContext, ...prompts: readonly Prompt[]) {
  const { context, watchdog } = await testProject(t);
  const told: string[] = [];
  const left = [...prompts];
  const registry = runsStage((text, options) => {
    told.push(text);
    return (left.shift() ?? says("Done."))(text, options);
  });
  const actions = createRunActions({
    runs: registry.runs,
    blocked: {
      pool: idlePool(),
      children: { runs: () => Promise.resolve(true) },
      worktrees: undefined,
      cwd: "/",
      kept: () => Promise.resolve(false),
    },
  });
  return {
    ...registry,
    told,
    watchdog,
    list: () => actions.list(context),
    send: (task_id: string, message: string) => actions.send({ task_id, message }, context),
    wait: (
      args: { readonly task_ids?: readonly string[]; readonly timeout?: number },
      changed: Partial<ToolContext> = {},
    ) => actions.wait(args, { ...context, ...changed }),
    stop: (task_id: string) => actions.stop({ task_id }, context),
  };
}

test("list_agents says of each run where it stands and whether it takes messages", async (t) => {
  const { prompt, begun } = working();
  const failing: Prompt = () => Promise.reject(new Error("no model"));
  const { list, start, finished } = await stage(t, failing, prompt);
  assert.equal((await list()).text, "No subagent was started in the background yet.");
  const failed = await finished();
  const busy = start({ description: "Count\nthe files" });
  await begun;
  const [first = "", second = "", ...more] = (await list()).text.split("\n");
  assert.match(
    first,
    new RegExp(`^${failed.id} \\| general-purpose \\| failed \\| .* ago \\| `, "u"),
  );
  assert.match(first, / \| resume_blocked_reason: its last run ended otherwise than by an answer/u);
  assert.match(second, new RegExp(`^${busy.id} \\| general-purpose \\| running \\| for `, "u"));
  assert.match(second, / \| takes messages \| Count the files$/u);
  assert.deepEqual(more, []);
});

test("a message to a run that ended makes it go on, and its next end is told like any other", async (t) => {
  const { send, finished, runs, told } = await stage(t);
  const run = await finished();
  assert.deepEqual(runs.tellAll().map(({ round }) => round), [1]);
  const { ok, text } = await send(run.id, "And b?");
  assert.ok(ok);
  assert.match(text, /goes on with the message\. Its next result comes by itself\.$/u);
  await runs.ended(run, new AbortController().signal);
  assert.deepEqual(told, ["Go", `${FROM}And b?`]);
  assert.deepEqual(runs.tellAll().map(({ round }) => round), [2]);
});

test("a model that makes runs go on without end is told to stop", async (t) => {
  const { send, finished, wait } = await stage(t);
  const run = await finished();
  for (let sent = 0; sent < MAX_MODEL_CONTINUATIONS; sent++) {
    assert.ok((await send(run.id, "Again")).ok);
    await wait({});
  }
  const { ok, text } = await send(run.id, "Again");
  assert.ok(!ok);
  assert.match(text, /^Not sent: .* go on 200 times, .*; finish the work with your own tools$/u);
});

test("messages that cannot be read at once are the next prompts, in order, before the end", async (t) => {
  const { promise: free, resolve } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const slow: Prompt = async (...args) => {
    begin();
    await free;
    return await says("First.")(...args);
  };
  const { send, start, runs, told } = await stage(t, slow);
  const run = start();
  await begun;
  for (const message of ["one", "two"]) {
    assert.match((await send(run.id, message)).text, /gets the/u);
  }
  resolve();
  await runs.ended(run, new AbortController().signal);
  assert.deepEqual(told, ["Go", `${FROM}one`, `${FROM}two`]);
  assert.equal(runs.tellAll().length, 1);
});

test("a run that can be told nothing is not, and the reason says what to do", async (t) => {
  const failing: Prompt = () => Promise.reject(new Error("no model"));
  const { send, finished, told } = await stage(t, failing);
  const run = await finished();
  const { ok, text } = await send(run.id, "Try again");
  assert.ok(!ok);
  assert.match(
    text,
    new RegExp(`^Not sent: ${run.id} takes no messages: .*start another one$`, "u"),
  );
  assert.deepEqual(told, ["Go"]);
});

test("wait_agent gives each result once, and so does the notification", async (t) => {
  const { wait, start, runs, watchdog } = await stage(t);
  const run = start();
  const { ok, text } = await wait({});
  assert.ok(ok);
  assert.match(text, /^<task id="task-[0-9a-f]{6}" agent="general-purpose" status="completed"/u);
  assert.ok(!runs.pending);
  assert.deepEqual(watchdog, ["stopped", "started"]);
  assert.match((await wait({ task_ids: [run.id] })).text, /you have its result already$/u);
  assert.match((await wait({})).text, /every result was given to you\.$/u);
});

test("wait_agent that waited long enough says what a run does, and leaves it at work", async (t) => {
  const { prompt, begun } = working();
  const { wait, start } = await stage(t, prompt);
  const run = start();
  await begun;
  run.did("grep tests");
  const { ok, text } = await wait({ task_ids: [run.id, run.id], timeout: 0.001 });
  assert.ok(ok);
  assert.equal(text, `${run.id} is still at work after 1 ms, lately with: grep tests`);
  assert.ok(run.active);
});

test("a cancel ends the waiting, not the run", async (t) => {
  const { prompt, begun } = working();
  const { wait, start } = await stage(t, prompt);
  const run = start();
  await begun;
  const stop = new AbortController();
  const waiting = wait({}, { signal: stop.signal });
  stop.abort(new Error("no more"));
  await assert.rejects(waiting, /no more/u);
  assert.ok(run.active);
});

test("task_stop gives what a run had, and refuses one that ended", async (t) => {
  const { prompt, begun } = working();
  const { stop, start, runs } = await stage(t, prompt);
  const run = start();
  await begun;
  const stopped = await stop(run.id);
  assert.ok(stopped.ok);
  assert.match(stopped.text, /status="cancelled"[^]*So far\./u);
  assert.ok(!runs.pending);
  assert.deepEqual(await stop(run.id), {
    ok: false,
    text: `Not stopped: ${run.id} has ended already (cancelled).`,
  });
});

test("an id that no run has is refused by each of them, with the ids there are", async (t) => {
  const { send, wait, stop, finished } = await stage(t);
  const none = await stop("task-000000");
  assert.match(
    none.text,
    /^There is no subagent "task-000000": none was started in the background/u,
  );
  const { id } = await finished();
  const wrong = `${id.slice(0, -1)}x`;
  const answers = [
    await send(wrong, "x"),
    await wait({ task_ids: [id, wrong] }),
    await stop(wrong),
  ];
  for (const { ok, text } of answers) {
    assert.ok(!ok);
    assert.match(
      text,
      new RegExp(`^There is no subagent "${wrong}": there are ${id}.*"${id}"`, "u"),
    );
  }
});
