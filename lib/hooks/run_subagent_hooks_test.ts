import assert from "node:assert/strict";
import { mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { redactor } from "../base/secrets.ts";
import type { HookConfig } from "../config/types.ts";
import { createRunFilter } from "../platform/filter.ts";
import { isGone } from "../platform/group.ts";
import { createReaper } from "../platform/reaper.ts";
import { createSubagentHooks } from "./run_subagent_hooks.ts";
import type { HookedRun, SubagentHooks } from "./subagent_hooks.ts";

const never = { signal: new AbortController().signal };
const done = { answer: "Done.", end: "answered", again: 0 };

/** What a test has: hooks with real commands, and a directory they run in. */
interface Stage {
  readonly hooks: SubagentHooks;
  readonly run: HookedRun;
  readonly read: (name: string) => Promise<string>;
}

type Commands = readonly (string | (Partial<HookConfig> & { readonly run: string }))[];

async function withHooks(
  commands: { readonly start?: Commands; readonly stop?: Commands },
  body: (stage: Stage) => Promise<void>,
): Promise<void> {
  const cwd = await realpath(await mkdtemp(join(tmpdir(), "mm-hooks-")));
  const reaper = createReaper();
  const configs = (list: Commands = []): HookConfig[] =>
    list.map((one) => ({ timeoutMs: 10_000, ...(typeof one === "string" ? { run: one } : one) }));
  try {
    await body({
      hooks: createSubagentHooks({
        config: { subagentStart: configs(commands.start), subagentStop: configs(commands.stop) },
        run: createRunFilter({ reaper }),
        env: () => Promise.resolve({ PATH: process.env.PATH ?? "", MM_ASK_DEPTH: "0" }),
        depth: 0,
        redact: redactor(["hunter2-secret"]),
      }),
      run: {
        taskId: "explore-1a2b",
        agent: "explore",
        description: "Look around",
        prompt: "Find the tests.",
        background: true,
        cwd,
      },
      read: (name) => readFile(join(cwd, name), "utf8"),
    });
  } finally {
    reaper.close();
    await rm(cwd, { recursive: true, force: true });
  }
}

test("a subagentStart hook reads the run as JSON, in its directory, and says nothing", () =>
  withHooks({ start: ["cat > start.json; pwd > where"] }, async ({ hooks, run, read }) => {
    assert.deepEqual(await hooks.before(run, never), { context: "" });
    assert.deepEqual(JSON.parse(await read("start.json")), {
      hook: "subagentStart",
      ...run,
      depth: 0,
    });
    assert.equal((await read("where")).trim(), run.cwd);
  }));

test("what subagentStart hooks answer is added up, in their order", () =>
  withHooks({
    start: [
      `echo '{"context": "The tests are slow.\\n"}'`,
      "cat > /dev/null",
      `echo '{"context": ""}'`,
      `echo '{"context": "Ports from 8000 on are free."}'`,
    ],
  }, async ({ hooks, run }) => {
    assert.deepEqual(await hooks.before(run, never), {
      context: "The tests are slow.\n\nPorts from 8000 on are free.",
    });
  }));

test("a subagentStart hook refuses by status 2, without secrets, and no later one runs", () =>
  withHooks({
    start: ["echo 'not with hunter2-secret' >&2; exit 2", "touch later"],
  }, async ({ hooks, run, read }) => {
    const before = await hooks.before(run, never);
    assert.ok("refused" in before);
    assert.match(before.refused, /^the subagentStart hook ".*" refused: not with \[secret\]$/u);
    await assert.rejects(read("later"), { code: "ENOENT" });
  }));

for (
  const [command, words] of [
    ["exit 1", /exited with status 1; a hook that does not work refuses$/u],
    ["echo fine", /printed something that is no JSON; a hook/u],
    [`echo '{"prompt": "x"}'`, /answered with "prompt", but it may answer with context only; a/u],
    [`echo '{"context": 1}'`, /answered with a "context" that is no text; a hook/u],
    ["./no-such-hook", /exited with status 127/u],
  ] as const
) {
  test(`a subagentStart hook that does not work refuses: ${command}`, () =>
    withHooks({ start: [command] }, async ({ hooks, run }) => {
      const before = await hooks.before(run, never);
      assert.ok("refused" in before);
      assert.match(before.refused, words);
    }));
}

test("hooks run for the subagents that they match", () =>
  withHooks({
    start: [{ run: `echo '{"context": "a"}'`, match: "exp*" }, { run: "exit 2", match: "plan" }],
    stop: [{ run: "exit 2", match: "{plan,fork}" }],
  }, async ({ hooks, run }) => {
    assert.deepEqual(await hooks.before(run, never), { context: "a" });
    assert.deepEqual(await hooks.after(run, done, never), { warnings: [] });
    assert.ok("refused" in await hooks.before({ ...run, agent: "plan" }, never));
    // A project's file may call itself so, and takes the place of the other one.
    assert.ok("refused" in await hooks.before({ ...run, agent: "PLAN" }, never));
    assert.ok((await hooks.after({ ...run, agent: "fork" }, done, never)).again !== undefined);
  }));

test("both hooks of a run see the same id; the one at its end sees the answer and how it ended", () =>
  withHooks({
    start: ["cat > start.json"],
    stop: ["cat > stop.json"],
  }, async ({ hooks, run, read }) => {
    await hooks.before(run, never);
    assert.deepEqual(await hooks.after(run, done, never), { warnings: [] });
    const start = JSON.parse(await read("start.json"));
    assert.deepEqual(JSON.parse(await read("stop.json")), {
      ...start,
      hook: "subagentStop",
      answer: "Done.",
      end: "answered",
      stopHookActive: false,
      sentBack: 0,
    });
    await hooks.after(run, { ...done, again: 3 }, never);
    const again = JSON.parse(await read("stop.json"));
    assert.equal(again.taskId, start.taskId);
    assert.equal(again.stopHookActive, true);
    assert.equal(again.sentBack, 3);
  }));

test("a subagentStop hook sends the agent back by status 2 with its words, or by JSON; all are heard", () =>
  withHooks({
    stop: [
      "echo 'run the tests with hunter2-secret' >&2; exit 2",
      `echo '{"again": "and say what failed"}'`,
      `echo '{"again": "  "}'`,
      "touch looked",
    ],
  }, async ({ hooks, run, read }) => {
    assert.deepEqual(await hooks.after(run, done, never), {
      again: "run the tests with [secret]\n\nand say what failed",
      warnings: [],
    });
    assert.equal(await read("looked"), "");
  }));

test("a subagentStop hook that refuses without a word sends the agent back all the same", () =>
  withHooks({ stop: ["exit 2"] }, async ({ hooks, run }) => {
    assert.deepEqual(await hooks.after(run, done, never), {
      again: 'the subagentStop hook "exit 2" wants you to go on',
      warnings: [],
    });
  }));

test("a subagentStop hook that does not work keeps no run from ending; a warning says so", () =>
  withHooks({
    stop: [
      "echo 'no hunter2-secret' >&2; exit 1",
      "echo fine",
      { run: "sleep 300", timeoutMs: 200 },
    ],
  }, async ({ hooks, run }) => {
    const { again, warnings } = await hooks.after(run, done, never);
    assert.equal(again, undefined);
    assert.deepEqual(warnings.map((text) => text.replace(/^the subagentStop hook ".*" /u, "")), [
      "exited with status 1 (no [secret]); explore-1a2b ends all the same",
      "printed something that is no JSON; explore-1a2b ends all the same",
      "took longer than 200 ms; explore-1a2b ends all the same",
    ]);
  }));

test("what hooks add is bounded, and says what was left out", () =>
  withHooks({
    start: [`printf '{"context": "%s"}' "$(head -c 30000 /dev/zero | tr '\\0' x)"`],
  }, async ({ hooks, run }) => {
    const before = await hooks.before(run, never);
    assert.ok("context" in before);
    assert.ok(before.context.length <= 20_000);
    assert.match(before.context, /of 30000 characters left out/u);
  }));

test("a cancel ends the hook that runs, and rejects with the signal's reason", () =>
  withHooks({
    start: ["echo $$ > pid; sleep 300"],
    stop: ["sleep 300"],
  }, async ({ hooks, run, read }) => {
    const cancel = new AbortController();
    const before = hooks.before(run, { signal: cancel.signal });
    let group = 0;
    while (group === 0) {
      group = Number(await read("pid").catch(() => "0"));
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    cancel.abort(new Error("stopped"));
    await assert.rejects(before, /^Error: stopped$/u);
    assert.ok(await isGone(group));
    await assert.rejects(hooks.after(run, done, { signal: cancel.signal }), /^Error: stopped$/u);
  }));
