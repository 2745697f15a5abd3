import assert from "node:assert/strict";
import { appendFile, mkdir, mkdtemp, readFile, rename, rm, rmdir, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { redactor } from "../base/secrets.ts";
import type { Notification } from "./notification.ts";
import { Run, type RunOptions } from "./run.ts";
import { readRunRecords, RunRecords } from "./run_record.ts";

const UNTOLD: Notification = {
  taskId: "task-000001",
  round: 1,
  agent: "explore",
  description: "Find it",
  status: "completed",
  result: "Line one\nLine two",
  toolCalls: 1,
  durationMs: 5,
};

function runOf(id: string, more: Partial<RunOptions> = {}): Run {
  return new Run({
    id,
    target: { kind: "gone", agent: "explore", reason: "" },
    description: "Find it",
    cwd: "/project",
    background: true,
    ...more,
  });
}

interface Setup {
  readonly path: string;
  readonly records: RunRecords;
  readonly troubles: unknown[];
}

function recordsAt(path: string): Pick<Setup, "records" | "troubles"> {
  const troubles: unknown[] = [];
  const records = new RunRecords({
    path: () => path,
    redact: redactor(["very-secret-word"]),
    maxTask: 40,
    onTrouble: (error) => troubles.push(error),
  });
  return { records, troubles };
}

async function withRecords(body: (setup: Setup) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "mm-records-"));
  const path = join(directory, "agents.jsonl");
  try {
    await body({ path, ...recordsAt(path) });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

test("runs are read as they were saved last, in the order they were started", () =>
  withRecords(async ({ path, records, troubles }) => {
    const first = runOf("task-000001", { sessionId: "s-1", rounds: 1 });
    const second = runOf("task-000002", {
      target: {
        kind: "fork",
        sessionId: "copy",
        opening: { system: "You are mm.", tools: [], allow: ["read", "mcp__github"] },
      },
      worktree: { path: "/w", branch: "b", base: "c", origin: "/o", cwd: "/w/p" },
    });
    records.save(first);
    records.save(second);
    first.state = "ended";
    first.untold = [UNTOLD];
    records.save(first);
    const common = { description: "Find it", cwd: "/project" };
    assert.deepEqual(await readRunRecords(path), [
      {
        ...common,
        id: "task-000001",
        kind: "definition",
        agent: "explore",
        state: "ended",
        status: "failed",
        rounds: 1,
        session: "s-1",
        untold: [UNTOLD],
      },
      {
        ...common,
        id: "task-000002",
        kind: "fork",
        agent: "fork",
        state: "queued",
        status: "queued",
        rounds: 0,
        allow: ["read", "mcp__github"],
        worktree: { path: "/w", branch: "b", base: "c", origin: "/o", cwd: "/w/p" },
        untold: [],
      },
    ]);
    assert.deepEqual(troubles, []);
  }));

test("no system prompt, tool, address or secret is written, and nobody else can read it", () =>
  withRecords(async ({ path, records }) => {
    const opening = {
      system: "You are mm at http://127.0.0.1:8080",
      tools: [{ name: "ls", description: "Lists", parameters: {} }],
    };
    records.save(runOf("task-000001", {
      description: "Use very-secret-word",
      target: { kind: "fork", sessionId: "copy", opening },
    }));
    const text = await readFile(path, "utf8");
    assert.doesNotMatch(text, /You are mm|Lists|127\.0\.0\.1|very-secret-word/u);
    assert.match(text, /Use \[secret\]/u);
    if (process.platform !== "win32") assert.equal((await stat(path)).mode & 0o777, 0o600);
  }));

test("secrets are hidden in what models wrote, and a path stays one that can be gone to", () =>
  withRecords(async ({ path, records }) => {
    const result = 'It is "very-secret-word\\".\\nvery-secret-word';
    records.save(runOf("task-000001", {
      cwd: "/very-secret-word",
      untold: [{
        ...UNTOLD,
        description: "very-secret-word",
        result,
        file: "/r/key-management.txt",
      }],
    }));
    const [saved] = await readRunRecords(path);
    assert.equal(saved?.cwd, "/very-secret-word");
    const [told] = saved?.untold ?? [];
    assert.equal(told?.description, "[secret]");
    assert.equal(told?.result, 'It is "[secret]\\".\\n[secret]');
    assert.equal(told?.file, "/r/key-management.txt");
  }));

test("a line that was torn or is of no run is passed over, the runs around it are not", () =>
  withRecords(async ({ path, records }) => {
    records.save(runOf("task-000001"));
    await appendFile(path, '{"id":"../../etc/passwd","kind":"definition"}\n[]\nnull\n\n{"id":"tas');
    assert.deepEqual((await readRunRecords(path)).map(({ id }) => id), ["task-000001"]);
    const { records: next } = recordsAt(path);
    next.save(runOf("task-000002"));
    assert.deepEqual(
      (await readRunRecords(path)).map(({ id }) => id),
      ["task-000001", "task-000002"],
    );
  }));

test("a line that a full disk cut off costs no later one", () =>
  withRecords(async ({ path, records, troubles }) => {
    records.save(runOf("task-000001"));
    await rename(path, `${path}.away`);
    await mkdir(path);
    records.save(runOf("task-000002"));
    await rmdir(path);
    await rename(`${path}.away`, path);
    await appendFile(path, '{"id":"task-0000');
    records.save(runOf("task-000003"));
    assert.deepEqual(
      (await readRunRecords(path)).map(({ id }) => id),
      ["task-000001", "task-000003"],
    );
    assert.equal(troubles.length, 1);
  }));

test("a conversation without runs has none", async () => {
  assert.deepEqual(await readRunRecords(join(tmpdir(), "mm-no-such-folder", "agents.jsonl")), []);
});

test("what cannot be saved is told once, and no run fails by it", () => {
  const troubles: unknown[] = [];
  const records = new RunRecords({
    path: () => join(tmpdir(), "mm-no-such-folder", "agents.jsonl"),
    redact: (text) => text,
    maxTask: 40,
    onTrouble: (error) => troubles.push(error),
  });
  records.save(runOf("task-000001"));
  records.save(runOf("task-000001"));
  assert.equal(troubles.length, 1);
});

test("a conversation that is not saved keeps nothing", () => {
  const records = new RunRecords({
    path: () => undefined,
    redact: () => assert.fail("nothing is written"),
    maxTask: 40,
    onTrouble: () => assert.fail("that is no trouble"),
  });
  records.save(runOf("task-000001"));
});

test("the task of a run that has not begun is kept whole or not at all, without secrets", () =>
  withRecords(async ({ path, records }) => {
    const copy = {
      kind: "fork",
      sessionId: "copy",
      opening: { system: "", tools: [], callId: "call-1" },
    } as const;
    const run = runOf("task-000001", { task: "Use very-secret-word" });
    records.save(run);
    records.save(runOf("task-000002", { task: "Look", target: copy }));
    records.save(runOf("task-000003", { task: "x".repeat(41) }));
    records.save(runOf("task-000004", { task: "Over", state: "ended" }));
    const saved = await readRunRecords(path);
    assert.deepEqual(saved.map(({ task, copy, callId }) => [task, copy, callId]), [
      ["Use [secret]", undefined, undefined],
      ["Look", "copy", "call-1"],
      [undefined, undefined, undefined],
      [undefined, undefined, undefined],
    ]);
    // It has begun: what it was told is in its own conversation.
    run.sessionId = "s-1";
    records.save(run);
    const [begun] = await readRunRecords(path);
    assert.deepEqual([begun?.session, begun?.task], ["s-1", undefined]);
  }));
