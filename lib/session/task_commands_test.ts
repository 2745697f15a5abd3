import assert from "node:assert/strict";
import { test } from "node:test";
import { runsStage, says, working } from "../delegation/runs_testing.ts";
import { Conversation } from "../engine/conversation.ts";
import {
  busyReason,
  forkCommand,
  type ForkCommandOptions,
  noDelegation,
  tasksCommand,
} from "./task_commands.ts";

test("/tasks says that nothing runs, also where nobody delegates", async () => {
  const none = { ok: true, text: "No subagent was started in the background." };
  assert.deepEqual(await tasksCommand(undefined, ""), none);
  assert.deepEqual(await tasksCommand(runsStage(says("Done.")).runs, ""), none);
});

test("/tasks lists each run with its state, and how to stop one", async () => {
  const stage = runsStage(says("Done."));
  const run = await stage.finished({ description: "Count\nthe files" });
  const { ok, text } = await tasksCommand(stage.runs, "");
  assert.ok(ok);
  const [line, hint, ...more] = text.split("\n");
  assert.match(
    line ?? "",
    new RegExp(`^${run.id}  general-purpose  completed for .*  Count the files$`, "u"),
  );
  assert.equal(hint, "/tasks stop <id> ends one.");
  assert.deepEqual(more, []);
});

test("/tasks and an id shows where a run works, how it ended and what it said", async () => {
  const stage = runsStage(says("It is in a.ts."));
  const run = await stage.finished();
  const { ok, text } = await tasksCommand(stage.runs, run.id);
  assert.ok(ok);
  assert.match(text, /\ndirectory: \/\n/u);
  assert.match(text, /\nIt is in a\.ts\.$/u);
});

test("/tasks stop ends a run that works, and refuses one that has ended", async () => {
  const { prompt, begun } = working();
  const stage = runsStage(prompt);
  const run = stage.start();
  await begun;
  const stopped = { ok: true, text: `${run.id} is stopped.` };
  assert.deepEqual(await tasksCommand(stage.runs, `stop ${run.id}`), stopped);
  assert.equal(run.status, "cancelled");
  const ended = { ok: false, text: `${run.id} has ended already` };
  assert.deepEqual(await tasksCommand(stage.runs, `stop  ${run.id}`), ended);
});

test("/tasks refuses an id that no run has, and says which is meant", async () => {
  const stage = runsStage(says("Done."));
  const { id } = await stage.finished();
  const wrong = `${id.slice(0, -1)}x`;
  for (const rest of [wrong, `stop ${wrong}`]) {
    const { ok, text } = await tasksCommand(stage.runs, rest);
    assert.ok(!ok);
    assert.match(text, new RegExp(`^There is no task "${wrong}", see /tasks.*"${id}"`, "u"));
  }
  assert.deepEqual(await tasksCommand(stage.runs, "stop"), {
    ok: false,
    text: "/tasks stop needs an id: /tasks lists them",
  });
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
