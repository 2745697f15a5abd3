import assert from "node:assert/strict";
import { test } from "node:test";
import { Gate } from "../gate/gate.ts";
import type { PermissionAnswer } from "../gate/question.ts";
import { BUILTIN_DEFINITIONS } from "./builtin_definitions.ts";
import { MAX_ACTIVITY, MAX_KEPT_RUNS } from "./delegation_limits.ts";
import { Run } from "./run.ts";
import { RunSlots } from "./run_slots.ts";
import type { RunsOptions } from "./runs.ts";
import { type RunsStage, runsStage, says, TARGET, working } from "./runs_testing.ts";

const NEVER = new AbortController().signal;

const statesOf = ({ events }: RunsStage, run: Run) =>
  events.filter((event) => event.type === "task" && event.taskId === run.id)
    .map((event) => event.type === "task" ? event.state : "");

test("each launch has one start, one end and one notification", async () => {
  const stage = runsStage(says("Done."));
  const all = await Promise.all([stage.finished(), stage.finished(), stage.finished()]);
  assert.equal(new Set(all.map(({ id }) => id)).size, 3);
  for (const run of all) assert.deepEqual(statesOf(stage, run), ["running", "ended"]);
  const told = stage.runs.tellAll();
  assert.deepEqual(told.map(({ taskId }) => taskId), all.map(({ id }) => id));
  assert.deepEqual(told.map(({ status, result }) => [status, result]), [
    ["completed", "Done."],
    ["completed", "Done."],
    ["completed", "Done."],
  ]);
  assert.deepEqual(stage.runs.tellAll(), []);
  assert.equal(stage.runs.pending, false);
});

test("a failure and a stop are each told once, with the words there are", async () => {
  const failing = runsStage(() => Promise.reject(new Error("the server is gone")));
  const failed = await failing.finished();
  assert.equal(failed.status, "failed");
  const [told, ...more] = failing.runs.tell(failed);
  assert.match(told?.result ?? "", /the server is gone/u);
  assert.deepEqual(more, []);

  const { prompt, begun } = working();
  const stage = runsStage(prompt);
  const run = stage.start();
  await begun;
  await stage.runs.stop(run);
  assert.deepEqual(statesOf(stage, run), ["running", "ended"]);
  const ends = stage.runs.tellAll();
  assert.deepEqual(ends.map(({ status, result }) => [status, result]), [
    ["cancelled", "So far.\n[general-purpose was cancelled]"],
  ]);
});

test("a stop that comes when the answer is there changes nothing about it", async () => {
  const releasing = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const stage = runsStage(says("Done."), {
    worktrees: {
      release: async () => {
        releasing.resolve();
        await release.promise;
        return { kept: false };
      },
    } as unknown as NonNullable<RunsOptions["worktrees"]>,
  });
  const worktree = { path: "/", branch: "b", base: "c", origin: "/", cwd: "/" };
  const run = stage.start({ worktree });
  await releasing.promise;
  const stopped = stage.runs.stop(run);
  release.resolve();
  await stopped;
  assert.deepEqual(stage.runs.tellAll().map(({ status, result }) => [status, result]), [
    ["completed", "Done."],
  ]);
});

test("a subagent that does not heed its stop is given up after a moment, and told once", async () => {
  const begun = Promise.withResolvers<void>();
  const stage = runsStage((_text, { onUpdate }) => {
    onUpdate({ type: "text", text: "So far." });
    begun.resolve();
    return new Promise(() => {});
  });
  const run = stage.start();
  await begun.promise;
  await stage.runs.stop(run);
  assert.deepEqual(stage.runs.tellAll().map(({ status, result }) => [status, result]), [
    ["cancelled", "So far.\n[general-purpose was cancelled]"],
  ]);
  assert.deepEqual(statesOf(stage, run), ["running", "ended"]);
});

test("runs in the foreground are in no list and tell nobody", async () => {
  const stage = runsStage(says("Done."));
  const call = { id: "c", output: () => {}, alive: () => {}, pauseWatchdog: () => () => {} };
  const { run, result } = await stage.runs.carryOut(
    { target: TARGET, description: "A task", prompt: "Go", cwd: "/" },
    { signal: NEVER, call },
  );
  assert.deepEqual([result.end.kind, result.answer], ["answered", "Done."]);
  assert.deepEqual(stage.runs.list, []);
  assert.equal(stage.runs.get(run.id), undefined);
  assert.ok(!stage.runs.pending);
  assert.deepEqual(stage.events.filter(({ type }) => type === "task"), []);
  // Its session is of no use to anybody any more.
  assert.deepEqual(stage.closed, ["s1"]);
});

test("a front end that throws breaks neither the run nor what the others hear", async () => {
  const stage = runsStage(says("Done."), {
    emit: () => {
      throw new Error("the front end is gone");
    },
  });
  stage.runs.watch(() => {
    throw new Error("the front end is gone");
  });
  let heard = 0;
  stage.runs.watch(() => heard++);
  const run = await stage.finished();
  assert.equal(run.status, "completed");
  assert.ok(heard > 0);
  assert.equal(stage.runs.tellAll().length, 1);
});

test("only what a run did last is remembered", async () => {
  const stage = runsStage((_text, { onUpdate }) => {
    for (let at = 1; at <= MAX_ACTIVITY + 5; at++) {
      const call = { id: `c${at}`, name: "read", title: `file ${at} ${"x".repeat(300)}` };
      onUpdate({
        type: "tool_call",
        call: { ...call, kind: "read", input: {} },
        status: "pending",
      });
    }
    return Promise.resolve({ stop: "end_turn" });
  });
  const { activity } = await stage.finished();
  assert.equal(activity.length, MAX_ACTIVITY);
  assert.match(activity[0] ?? "", /^file 6 x+…$/u);
  assert.ok(activity.every((one) => one.length <= 100));
});

test("of the runs that ended and were told, the newest are kept; what was not told stays", async () => {
  const stage = runsStage(says("Done."));
  const untold = await stage.finished();
  for (let at = 0; at < MAX_KEPT_RUNS + 3; at++) stage.runs.tell(await stage.finished());
  const { list } = stage.runs;
  assert.equal(list.length, MAX_KEPT_RUNS + 1);
  assert.equal(list[0], untold);
  assert.deepEqual(stage.closed, ["s2", "s3", "s4"]);
  stage.runs.tell(untold);
  assert.ok(!stage.runs.list.includes(untold));
});

test("a session that ends stops its runs and tells nobody", async () => {
  const { prompt, begun } = working();
  const stage = runsStage(prompt);
  const run = stage.start();
  await begun;
  await stage.runs.close();
  assert.equal(run.result?.end.kind, "cancelled");
  assert.deepEqual([stage.runs.list, stage.runs.pending, run.untold], [[], false, []]);
  assert.deepEqual(statesOf(stage, run), ["running"]);
});

test("a run in the foreground that is cut short is kept by its id, tells nobody, and goes on", async () => {
  const { prompt, begun } = working();
  const answers = [prompt, says("Done.")];
  const stage = runsStage((text, options) => (answers.shift() ?? prompt)(text, options));
  const call = { id: "c", output: () => {}, alive: () => {}, pauseWatchdog: () => () => {} };
  const stop = new AbortController();
  const carried = stage.runs.carryOut(
    { target: TARGET, description: "A task", prompt: "Go", cwd: "/" },
    { signal: stop.signal, call, goesOn: true },
  );
  await begun;
  stop.abort();
  const { run, result } = await carried;
  assert.equal(result.end.kind, "cancelled");
  assert.deepEqual(result.notes, [`[send_message with the task_id ${run.id} makes it go on]`]);
  assert.equal(stage.runs.get(run.id), run);
  assert.equal(run.status, "cancelled");
  assert.ok(!stage.runs.pending);
  assert.deepEqual(stage.closed, []);
  stage.runs.goOn(run, "Go on");
  await stage.runs.ended(run, NEVER);
  assert.deepEqual(stage.runs.tellAll().map(({ round, status }) => [round, status]), [
    [2, "completed"],
  ]);
});

test("while a person is asked, neither the longest time of a run nor its seconds go on", async () => {
  const [definition] = BUILTIN_DEFINITIONS;
  assert.ok(definition !== undefined);
  const stage = runsStage(async (_text, { onPermission, onUpdate, signal }) => {
    const call = { id: "c", name: "bash", title: "date" };
    const answer = await onPermission(call, { signal });
    onUpdate({ type: "text", text: `It was ${answer.kind}.` });
    return { stop: "end_turn" };
  }, {
    setup: {
      yolo: () => false,
      gate: new Gate({
        rules: { allow: [], ask: [], deny: [] },
        honourAllowRules: true,
        askPermission: async (): Promise<PermissionAnswer> => {
          await new Promise((resolve) => setTimeout(resolve, 1500));
          return { kind: "allow_once" };
        },
      }),
    },
  });
  const target = { kind: "definition", definition: { ...definition, maxTimeMs: 1000 } } as const;
  const run = await stage.finished({ target });
  const [told] = stage.runs.tell(run);
  assert.deepEqual([told?.status, told?.result], ["completed", "It was allow_once."]);
  assert.ok(told !== undefined && told.durationMs < 1000, `${told?.durationMs} ms`);
});

test("a run that has not begun begins with its task and what it is told; the model is reminded of it once", async () => {
  const prompts: string[] = [];
  const saved: [string, boolean][] = [];
  const { runs } = runsStage((text, options) => {
    prompts.push(text);
    return says("Done.")(text, options);
  }, {
    records: {
      save: ({ state, reminded }: Run) => void saved.push([state, reminded]),
    } as unknown as NonNullable<RunsOptions["records"]>,
  });
  const run = new Run({
    id: "task-000001",
    target: TARGET,
    description: "A task",
    cwd: "/",
    background: true,
    state: "paused",
    task: "Find it",
  });
  runs.restore([run]);
  assert.ok(runs.unreminded);
  runs.reminded();
  runs.reminded();
  assert.deepEqual(saved, [["paused", true]]);
  assert.ok(!runs.unreminded);
  runs.goOn(run, "Hurry");
  await runs.ended(run, NEVER);
  assert.deepEqual(prompts, ["Find it\n\nHurry"]);
  assert.deepEqual(runs.tell(run).map(({ round, result }) => [round, result]), [[1, "Done."]]);
  assert.ok(runs.unreminded, "an mm that goes on has something new to tell");
  runs.goOn(run, "More");
  await runs.ended(run, NEVER);
  assert.equal(prompts[1], "More");
});

test("who sees a run begin that waited for a slot has seen the one before it end", async () => {
  const slots = new RunSlots({
    maxParallel: 1,
    model: { url: "", facts: () => Promise.resolve({}) },
  });
  const { runs, events, start } = runsStage(says("Done."), { setup: { slots } });
  const first = start();
  const second = start();
  await runs.ended(first, NEVER);
  await runs.ended(second, NEVER);
  const seen = events.map((event) => event.type === "task" && [event.taskId, event.state]);
  assert.deepEqual(seen.slice(2), [
    [first.id, "ended"],
    [second.id, "running"],
    [second.id, "ended"],
  ]);
});

test("a run with one slot goes on with what it was told, and gives the slot back in between", async () => {
  const slots = new RunSlots({
    maxParallel: 1,
    model: { url: "", facts: () => Promise.resolve({}) },
  });
  const { runs, start } = runsStage(says("Done."), { setup: { slots } });
  const run = start();
  run.messages.push("More");
  await runs.ended(run, NEVER);
  await runs.ended(start(), NEVER);
  assert.equal(slots.waiting, 0);
});

test("the person is told where the worktree of a run that was waited for is kept", async () => {
  const worktrees = {
    release: () => Promise.resolve({ kept: true, words: "It is kept." }),
  } as unknown as NonNullable<RunsOptions["worktrees"]>;
  const { runs, events } = runsStage(says("Done."), { worktrees });
  const worktree = { path: "/w", branch: "b", base: "c", origin: "/", cwd: "/" };
  const start = { target: TARGET, description: "A task", prompt: "Go", cwd: "/", worktree };
  const call = { id: "1", output: () => {}, alive: () => {}, pauseWatchdog: () => () => {} };
  const { result } = await runs.carryOut(start, { signal: NEVER, call });
  assert.deepEqual(result.notes, ["[It is kept.]"]);
  assert.deepEqual(events.filter(({ type }) => type === "notice"), [{
    type: "notice",
    severity: "info",
    text: 'The worktree of general-purpose is kept: "/w" on the branch "b"',
  }]);
});
