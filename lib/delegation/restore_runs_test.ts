import assert from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { AgentPool } from "../agents/pool.ts";
import { openDefinitionBook } from "./definition_book.ts";
import { restoreRuns } from "./restore_runs.ts";
import { type DefinitionDirs, inDefinitionDirs } from "./testing.ts";

const SYSTEM = "You are mm, as of today";
const TOOLS = [{ name: "ls", description: "Lists", parameters: {} }];

const record = (id: number, more: Readonly<Record<string, unknown>> = {}) => ({
  id: `task-00000${id}`,
  kind: "definition",
  agent: "explore",
  description: `Task ${id}`,
  cwd: "/project",
  state: "ended",
  status: "completed",
  rounds: 1,
  session: `session-${id}`,
  untold: [],
  ...more,
});

/** Restores the runs of a file with these lines. */
async function restored(dirs: DefinitionDirs, lines: readonly unknown[]) {
  const path = join(dirs.path, "agents.jsonl");
  await writeFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return await restoreRuns({
    path,
    book: await openDefinitionBook(dirs.places),
    // None of these runs is of an asked agent that could be started.
    pool: {} as AgentPool,
    source: () => ({ system: SYSTEM, tools: TOOLS }),
  });
}

test("what was under way is paused, what ended stays as it ended", () =>
  inDefinitionDirs(async (dirs) => {
    const runs = await restored(dirs, [
      record(1, { state: "running", status: "running" }),
      record(2, { state: "queued", status: "queued" }),
      record(3, { state: "parked", status: "parked" }),
      record(4, { state: "paused", status: "paused" }),
      record(5, { rounds: 3 }),
      record(6, { status: "failed" }),
    ]);
    assert.deepEqual(runs.map(({ id, state, status }) => [id.at(-1), state, status]), [
      ["1", "paused", "paused"],
      ["2", "paused", "paused"],
      ["3", "paused", "paused"],
      ["4", "paused", "paused"],
      ["5", "ended", "completed"],
      ["6", "ended", "failed"],
    ]);
    assert.ok(runs.every(({ active, background }) => !active && background));
    assert.deepEqual([runs[4]?.rounds, runs[4]?.sessionId], [3, "session-5"]);
  }));

test("of those that are over the last 32 are shown, and each definition is read once", () =>
  inDefinitionDirs(async (dirs) => {
    const id = (at: number) => `task-${at.toString(16).padStart(6, "0")}`;
    const lines = Array.from({ length: 300 }, (_, at) => record(0, { id: id(at) }));
    const path = join(dirs.path, "agents.jsonl");
    const paused = record(0, { id: "task-ffffff", state: "running" });
    await writeFile(path, [paused, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(""));
    const book = await openDefinitionBook(dirs.places);
    const looked: string[] = [];
    const runs = await restoreRuns({
      path,
      book: {
        ...book,
        find: (name) => {
          looked.push(name);
          return book.find(name);
        },
      },
      pool: {} as AgentPool,
      source: () => ({ system: SYSTEM, tools: TOOLS }),
    });
    assert.deepEqual(runs.map((run) => run.id), [
      "task-ffffff",
      ...lines.slice(-32).map((line) => line.id),
    ]);
    assert.deepEqual(looked, ["explore"]);
  }));

test("an end that the model was not told of is told again, one that it knows is not", () =>
  inDefinitionDirs(async (dirs) => {
    const untold = {
      taskId: "task-000001",
      round: 1,
      agent: "explore",
      description: "Task 1",
      status: "completed",
      result: "Here",
      toolCalls: 0,
      durationMs: 1,
    };
    const [told, first] = await restored(dirs, [record(2), record(1, { untold: [untold] })]);
    assert.deepEqual([told?.untold, first?.untold], [[], [untold]]);
  }));

test("a definition is taken as it is now; one that is gone leaves a run that says so", () =>
  inDefinitionDirs(async (dirs) => {
    const file = await dirs.define("reviewer", "home/project/.mm/agents/reviewer.md");
    const lines = [record(1, { agent: "reviewer" }), record(2, { agent: "Explore" })];
    const [run, builtin] = await restored(dirs, lines);
    assert.equal(run?.target.kind, "definition");
    assert.equal(builtin?.agent, "explore");
    await rm(file);
    const [gone] = await restored(dirs, lines);
    assert.equal(gone?.agent, "reviewer");
    assert.deepEqual(gone?.target, {
      kind: "gone",
      agent: "reviewer",
      reason: 'there is no definition "reviewer" any more',
    });
  }));

test("a fork goes on with the prompt and the tools of now, and what it may run of then", () =>
  inDefinitionDirs(async (dirs) => {
    const [narrow, all] = await restored(dirs, [
      record(1, { kind: "fork", agent: "fork", allow: ["read"] }),
      record(2, { kind: "fork", agent: "fork" }),
    ]);
    assert.deepEqual(narrow?.target, {
      kind: "fork",
      sessionId: "session-1",
      opening: { system: SYSTEM, tools: TOOLS, allow: ["read"] },
    });
    assert.deepEqual(all?.target, {
      kind: "fork",
      sessionId: "session-2",
      opening: { system: SYSTEM, tools: TOOLS },
    });
  }));

test("a run that saved nothing, and one of an asked agent, are shown and cannot go on", () =>
  inDefinitionDirs(async (dirs) => {
    const { session: _, ...without } = record(1);
    const [unsaved, entry] = await restored(dirs, [
      without,
      record(2, { kind: "entry", agent: "bob" }),
    ]);
    assert.deepEqual(unsaved?.target, {
      kind: "gone",
      agent: "explore",
      reason: "nothing of its conversation was saved",
    });
    assert.deepEqual(entry?.target, {
      kind: "gone",
      agent: "bob",
      reason: "the conversation of an asked agent ends with the mm that asked it",
    });
  }));

test("a run that was killed before it began has its task before it", () =>
  inDefinitionDirs(async (dirs) => {
    const { session: _, ...without } = record(1, {
      state: "queued",
      task: "Find it",
      reminded: true,
    });
    const [run, fork, torn] = await restored(dirs, [
      without,
      {
        ...without,
        id: "task-000002",
        kind: "fork",
        agent: "fork",
        copy: "copy",
        callId: "call-1",
      },
      { ...without, id: "task-000003", kind: "fork", agent: "fork" },
    ]);
    assert.deepEqual([run?.target.kind, run?.task, run?.rounds], ["definition", "Find it", 1]);
    assert.deepEqual([run?.state, run?.reminded, fork?.reminded], ["paused", true, true]);
    assert.deepEqual(fork?.target, {
      kind: "fork",
      sessionId: "copy",
      opening: { system: SYSTEM, tools: TOOLS, callId: "call-1" },
    });
    assert.equal(torn?.target.kind, "gone");
  }));
