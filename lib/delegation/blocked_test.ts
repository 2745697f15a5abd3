import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { ResidentSession } from "../agents/ask.ts";
import { blockedReason, type BlockedSetup } from "./blocked.ts";
import { BUILTIN_DEFINITIONS } from "./builtin_definitions.ts";
import { Run, type RunOptions, type RunTarget } from "./run.ts";

const [DEFINITION] = BUILTIN_DEFINITIONS;
const TARGET: RunTarget = { kind: "definition", definition: DEFINITION! };
const RESIDENT = {} as ResidentSession;

function runOf(more: Partial<RunOptions> = {}): Run {
  return new Run({
    id: "task-000001",
    target: TARGET,
    description: "Find it",
    cwd: tmpdir(),
    background: true,
    state: "ended",
    status: "completed",
    sessionId: "s-1",
    ...more,
  });
}

function setupOf(more: Partial<BlockedSetup> = {}): BlockedSetup {
  return {
    pool: { runs: () => false },
    children: { runs: () => Promise.resolve(false) },
    worktrees: { alive: () => Promise.resolve(true) },
    cwd: tmpdir(),
    kept: () => Promise.resolve(true),
    ...more,
  };
}

test("a run that works, waits or was paused takes messages", async () => {
  for (const state of ["queued", "running", "parked", "paused"] as const) {
    assert.equal(await blockedReason(runOf({ state }), setupOf()), undefined, state);
  }
});

test("a run that answered takes messages while its conversation is there", async () => {
  assert.equal(await blockedReason(runOf(), setupOf()), undefined);
  assert.equal(await blockedReason(runOf({ status: "incomplete" }), setupOf()), undefined);
  // Nothing is saved, but the child still has it.
  const resident = runOf({ sessionId: undefined });
  resident.resident = RESIDENT;
  const children = { runs: () => Promise.resolve(true) };
  assert.equal(
    await blockedReason(resident, setupOf({ children, kept: () => Promise.resolve(false) })),
    undefined,
  );
});

test("a run that failed or was stopped takes none, and the reason says how it ended", async () => {
  for (const status of ["failed", "cancelled", "died", "timed_out", "refused"]) {
    assert.equal(
      await blockedReason(runOf({ status }), setupOf()),
      `its last run ended otherwise than by an answer (${status}); start another one`,
    );
  }
});

test("a run of an earlier mm that nobody can carry out says why", async () => {
  const target: RunTarget = { kind: "gone", agent: "old", reason: "its definition is gone" };
  assert.equal(await blockedReason(runOf({ target }), setupOf()), "its definition is gone");
});

test("a run whose conversation is nowhere takes none", async () => {
  const words = "nothing of its conversation was saved; start another one";
  assert.equal(await blockedReason(runOf({ sessionId: undefined }), setupOf()), words);
  assert.equal(
    await blockedReason(runOf(), setupOf({ kept: () => Promise.resolve(false) })),
    words,
  );
  const run = runOf();
  run.resident = RESIDENT;
  assert.equal(await blockedReason(run, setupOf({ kept: () => Promise.resolve(false) })), words);
});

test("a run whose directory or worktree is gone takes none", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "mm-blocked-"));
  const worktree = { path: cwd, branch: "b", base: "c", origin: "/o", cwd };
  const setup = (alive: boolean) => setupOf({ worktrees: { alive: () => Promise.resolve(alive) } });
  assert.equal(await blockedReason(runOf({ cwd, worktree }), setup(true)), undefined);
  const changed = "its worktree is no longer what it was; start another one";
  assert.equal(await blockedReason(runOf({ cwd, worktree }), setup(false)), changed);
  assert.equal(
    await blockedReason(runOf({ cwd, worktree }), setupOf({ worktrees: undefined })),
    changed,
  );
  await rm(cwd, { recursive: true });
  assert.match(
    await blockedReason(runOf({ cwd, worktree }), setup(true)) ?? "",
    /^its directory is gone/u,
  );
});

test("an asked agent takes messages as long as its process runs", async () => {
  const entry = () => runOf({ target: { kind: "entry", agent: "bob" } });
  const runs = setupOf({ pool: { runs: (name) => name === "bob" } });
  const resident = entry();
  resident.resident = RESIDENT;
  assert.equal(await blockedReason(resident, runs), undefined);
  const gone = "its process ended, and its conversation with it; start another one";
  assert.equal(await blockedReason(resident, setupOf()), gone);
  assert.equal(await blockedReason(entry(), runs), gone);
});

test("a run whose call was cut short takes messages while its process has the conversation", async () => {
  const run = runOf({ status: "cancelled" });
  run.cutShort = true;
  run.resident = RESIDENT;
  const kept = () => Promise.resolve(false);
  const children = { runs: () => Promise.resolve(true) };
  assert.equal(await blockedReason(run, setupOf({ children, kept })), undefined);
  assert.match(await blockedReason(run, setupOf({ kept })) ?? "", /nothing of its conversation/u);
});

test("a paused run that has not begun takes messages where what it begins with is kept", async () => {
  const kept = (id: string) => Promise.resolve(id === "copy");
  const begins = { state: "paused", task: "Find it", sessionId: undefined } as const;
  assert.equal(await blockedReason(runOf(begins), setupOf({ kept })), undefined);
  const fork = (sessionId: string): RunTarget => ({
    kind: "fork",
    sessionId,
    opening: { system: "", tools: [] },
  });
  const of = (id: string) =>
    blockedReason(runOf({ ...begins, target: fork(id) }), setupOf({ kept }));
  assert.equal(await of("copy"), undefined);
  assert.match(await of("gone") ?? "", /^nothing of its conversation was saved/u);
});
