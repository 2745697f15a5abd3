import assert from "node:assert/strict";
import { test } from "node:test";
import { Run } from "../delegation/run.ts";
import { type RunsStage, runsStage, says, working } from "../delegation/runs_testing.ts";
import { Conversation } from "../engine/conversation.ts";
import {
  busyReason,
  forkCommand,
  type ForkCommandOptions,
  noDelegation,
  pausedWords,
  tasksCommand,
} from "./task_commands.ts";

const NEVER = new AbortController().signal;

/** `/tasks` on a registry; what is told to a run is noted. */
function tasks(
  stage: Pick<RunsStage, "runs"> | undefined,
  options: { readonly blocked?: string } = {},
) {
  const told: string[][] = [];
  const delegation = stage && {
    runs: stage.runs,
    blocked: () => Promise.resolve(options.blocked),
    tell: (run: Run, message: string) => {
      told.push([run.id, message]);
      return Promise.resolve({ ok: true, text: "told" });
    },
  };
  const type = (rest: string) => tasksCommand({ delegation, rest, signal: NEVER });
  return { type, told };
}

/** A run of an mm that ended. */
function paused(id: string): Run {
  const target = { kind: "gone", agent: "explore", reason: "" } as const;
  const about = { target, description: "Look", cwd: "/nowhere", background: true };
  return new Run({ ...about, id, state: "paused" });
}

test("/tasks says that nothing runs, also where nobody delegates", async () => {
  const none = { ok: true, text: "No subagent was started in the background." };
  assert.deepEqual(await tasks(undefined).type(""), none);
  assert.deepEqual(await tasks(runsStage(says("Done."))).type(""), none);
});

test("/tasks lists each run with its state, and what can be done where there is something", async () => {
  const { prompt, begun } = working();
  const answers = [says("Done."), prompt];
  const stage = runsStage((...args) => answers.shift()!(...args));
  const run = await stage.finished({ description: "Count\nthe files" });
  const { type } = tasks(stage);
  const { ok, text } = await type("");
  assert.ok(ok);
  const ended = `${run.id}  general-purpose  completed \\d\\S* m?s ago  Count the files`;
  assert.match(text, new RegExp(`^${ended}$`, "u"));
  const busy = stage.start();
  await begun;
  const lines = (await type("")).text.split("\n");
  assert.match(lines[0] ?? "", new RegExp(`^${ended}$`, "u"));
  assert.match(
    lines[1] ?? "",
    new RegExp(`^${busy.id}  general-purpose  running for \\d\\S* m?s  A task$`, "u"),
  );
  assert.match(
    lines[2] ?? "",
    /^\/tasks <id> shows one, \/tasks stop <id> ends one, \/tasks tell /u,
  );
  assert.equal(lines.length, 3);
  await stage.runs.close();
});

test("/tasks says of a paused run why it cannot go on, and nothing of a time that nobody knows", async () => {
  const stage = runsStage(says("Done."));
  stage.runs.restore([paused("task-1f09ab")]);
  const able = await tasks(stage).type("");
  assert.match(able.text, /^task-1f09ab {2}explore {2}paused {2}Look\n\/tasks <id> shows one/u);
  const unable = await tasks(stage, { blocked: "its directory is gone" }).type("");
  assert.match(unable.text, /paused {2}Look {2}\(cannot go on: its directory is gone\)\n/u);
});

test("/tasks and an id shows where a run works, how it ended, what it said and what is left", async () => {
  const stage = runsStage(says("It is in a.ts."));
  const run = await stage.finished();
  run.result = { ...run.result!, notes: ["[The worktree is kept.]"] };
  const { ok, text } = await tasks(stage, { blocked: "no reason" }).type(run.id);
  assert.ok(ok);
  assert.match(text, /\ndirectory: \/\ncannot go on: no reason\n/u);
  assert.match(text, /\nIt is in a\.ts\.\n\[The worktree is kept\.\]$/u);
});

test("/tasks and an id says that a directory is gone", async () => {
  const stage = runsStage(says("Done."));
  stage.runs.restore([paused("task-1f09ab")]);
  const { text } = await tasks(stage).type("task-1f09ab");
  assert.match(text, /\ndirectory: \/nowhere \(which is gone\)\n/u);
});

test("/tasks takes the beginning of an id, with or without its word, where it is one run's", async () => {
  const stage = runsStage(says("Done."));
  stage.runs.restore(["task-1f09ab", "task-1f11ab", "task-222222"].map(paused));
  const { type } = tasks(stage);
  for (const id of ["task-222222", "task-2", "2", "2222"]) {
    assert.match((await type(id)).text, /^task-222222 /u);
  }
  for (const id of ["1f", "task-1", "task-"]) {
    const { ok, text } = await type(id);
    assert.ok(!ok);
    assert.match(text, /" can be each of task-1f09ab, task-1f11ab/u);
  }
});

test("/tasks stop ends a run that works, and refuses one that has ended", async () => {
  const { prompt, begun } = working();
  const stage = runsStage(prompt);
  const { type } = tasks(stage);
  const run = stage.start();
  await begun;
  const stopped = { ok: true, text: `${run.id} is stopped.` };
  assert.deepEqual(await type(`stop ${run.id}`), stopped);
  assert.equal(run.status, "cancelled");
  const ended = { ok: false, text: `${run.id} has ended already` };
  assert.deepEqual(await type(`stop  ${run.id}`), ended);
});

test("/tasks stop all ends what works and gives up what is paused", async () => {
  const { prompt, begun } = working();
  const stage = runsStage(prompt);
  const { type } = tasks(stage);
  const run = stage.start();
  await begun;
  const left = paused("task-222222");
  stage.runs.restore([left]);
  assert.deepEqual(await type("stop all"), {
    ok: true,
    text: `${run.id} is stopped.\ntask-222222 is stopped.`,
  });
  assert.deepEqual([run.status, left.status], ["cancelled", "cancelled"]);
  assert.deepEqual(await type("stop all"), { ok: false, text: "There is nothing to stop" });
});

test("/tasks tell gives a run the whole message, line ends included, and needs one", async () => {
  const stage = runsStage(says("Done."));
  const run = await stage.finished();
  const { type, told } = tasks(stage);
  assert.deepEqual(await type(`tell ${run.id.slice(5)} Look at\n  b too`), {
    ok: true,
    text: "told",
  });
  assert.deepEqual(told, [[run.id, "Look at\n  b too"]]);
  assert.match((await type(`tell ${run.id}`)).text, /needs a message behind the id$/u);
  assert.match((await type(`tell ${run.id} ${"x".repeat(65_537)}`)).text, /at most 65536 char/u);
  assert.match((await type("tell")).text, /^\/tasks tell needs an id/u);
  assert.equal(told.length, 1);
});

test("/tasks refuses an id that no run has, and says which is meant", async () => {
  const stage = runsStage(says("Done."));
  const { id } = await stage.finished();
  const { type } = tasks(stage);
  const unknown = `${id.slice(0, -1)}x`;
  for (const rest of [unknown, `stop ${unknown}`, `tell ${unknown} More`]) {
    const { ok, text } = await type(rest);
    assert.ok(!ok);
    assert.match(text, new RegExp(`^There is no task "${unknown}", see /tasks.*"${id}"`, "u"));
  }
  assert.deepEqual(await type("stop"), {
    ok: false,
    text: "/tasks stop needs an id: /tasks lists them",
  });
});

test("/tasks with another word says what there is", async () => {
  const stage = runsStage(says("Done."));
  const { id } = await stage.finished();
  for (const rest of [`kill ${id}`, `stop ${id} now`]) {
    const { ok, text } = await tasks(stage).type(rest);
    assert.ok(!ok);
    assert.ok(text.startsWith(`"/tasks ${rest}" is no command: /tasks, /tasks <id>, `), text);
  }
});

test("which runs are paused is said with how they go on, five of them by name", () => {
  assert.equal(pausedWords([]), undefined);
  assert.equal(
    pausedWords([paused("task-1f09ab")]),
    "A subagent of before is paused: task-1f09ab (explore: Look). /tasks tell <id> <message> lets it " +
      "go on, /tasks stop <id> gives it up.",
  );
  const many = pausedWords(["1", "2", "3", "4", "5", "6"].map((end) => paused(`task-00000${end}`)));
  assert.match(
    many ?? "",
    /^6 subagents of before are paused: task-000001 .* and 1 more, see \/tasks\. /u,
  );
});

/** Runs `/fork` on a conversation with one turn. */
async function fork(options: Partial<ForkCommandOptions> = {}) {
  const conversation = new Conversation("s");
  conversation.addPair("Hello", "Hi");
  const started: string[][] = [];
  const delegation: ForkCommandOptions["delegation"] = {
    offer: { background: true, forks: true, worktrees: false },
    fork: (directive, description) => {
      started.push([directive, description]);
      return Promise.resolve({ id: "task-000001" });
    },
  };
  const answer = await forkCommand({
    delegation,
    directive: "Look at\nthe tests",
    conversation,
    limit: "no delegation",
    ...options,
  });
  const texts = conversation.messages.map((message) => "text" in message ? message.text : "");
  return { answer, started, texts, delegation };
}

test("/fork starts a fork, and the conversation notes it", async () => {
  const { answer, started, texts } = await fork();
  assert.ok(answer.ok);
  assert.match(answer.text, /^task-000001 is at work/u);
  assert.deepEqual(started, [["Look at\nthe tests", "Look at the tests"]]);
  assert.deepEqual(texts.slice(-2), [
    "[forked this conversation as task-000001: Look at\nthe tests]",
    "[task-000001 is at work; its result comes in a later message]",
  ]);
});

test("/fork that does not begin leaves the conversation as it was, and says why", async () => {
  const { delegation } = await fork();
  assert.ok(delegation);
  const { offer } = delegation;
  const cases: readonly [Partial<ForkCommandOptions>, RegExp][] = [
    [{ directive: "" }, /^\/fork needs a task/u],
    [{ delegation: undefined }, /^no delegation$/u],
    [{ delegation: { ...delegation, offer: { ...offer, background: false } } }, /^no delegation$/u],
    [
      { delegation: { ...delegation, offer: { ...offer, forks: false } } },
      /agents\.forks is false/u,
    ],
    [
      { delegation: { ...delegation, fork: () => Promise.resolve({ error: "the disk is full" }) } },
      /^There is no fork: the disk is full$/u,
    ],
  ];
  for (const [options, why] of cases) {
    const { answer, started, texts } = await fork(options);
    assert.ok(!answer.ok);
    assert.match(answer.text, why);
    assert.deepEqual(started, []);
    assert.deepEqual(texts, ["s", "Hello", "Hi"]);
  }
});

test("/fork needs a conversation to fork", async () => {
  const { answer, started } = await fork({ conversation: new Conversation("s") });
  assert.match(answer.text, /^There is nothing to fork yet/u);
  assert.deepEqual(started, []);
});

test("another conversation begins only where nothing is at work", () => {
  assert.equal(busyReason(0), undefined);
  assert.match(busyReason(1) ?? "", /^A subagent is at work .* or end it with \/tasks stop$/u);
  assert.match(busyReason(2) ?? "", /^2 subagents are at work .* or end them with \/tasks stop$/u);
});

test("why nobody delegates is the depth only where it is", () => {
  assert.match(noDelegation(2, 2), /agents\.maxDepth is reached$/u);
  assert.match(noDelegation(0, 2), /agents\.background is never$/u);
});
