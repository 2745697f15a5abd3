import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChildConnection } from "../agents/child_connection.ts";
import { playedChild } from "../agents/testing.ts";
import type { Child, StartChildOptions } from "../platform/process.ts";
import { SubagentChildren, type SubagentChildrenOptions } from "./subagent_children.ts";

const KEY = { name: "explore", version: "1", cwd: "/project" };

/** A table of children, and how each was started; no process is. */
function stage(options: Partial<SubagentChildrenOptions> = {}) {
  const started: StartChildOptions[] = [];
  let stopped = 0;
  const children = new SubagentChildren({
    self: ["deno", "run", "cli.ts"],
    configFile: "/etc/agent.yaml",
    model: undefined,
    env: { PATH: "/bin" },
    depth: 0,
    stateDir: () => Promise.resolve("/state"),
    start: (start) => {
      started.push(start);
      const child = playedChild();
      const stop: Child["stop"] = (options) => {
        stopped++;
        return child.stop(options);
      };
      return Promise.resolve({ ...child, stop });
    },
    connect: (child) => {
      const connection: Partial<ChildConnection> = {
        title: undefined,
        closed: (child as Child).ended.then(() => {}),
        close: () => {},
      };
      return Promise.resolve(connection as ChildConnection);
    },
    redact: (text) => text,
    ...options,
  });
  const run = async (key: typeof KEY, cwd = "/worktree") => {
    return await children.use(key, async (child) => {
      await child.running({ cwd, helloMs: 60_000, signal: new AbortController().signal });
      return child;
    });
  };
  return { children, started, run, stopped: () => stopped };
}

test("a subagent is this program, with the same configuration, where its definition was found", async () => {
  const { run, started, children } = stage({ model: "m" });
  await run(KEY);
  const [start] = started;
  assert.deepEqual(start?.command, [
    ...["deno", "run", "cli.ts", "-acp", "-agent", "explore"],
    ...["-config", "/etc/agent.yaml", "-model", "m"],
  ]);
  assert.equal(start?.cwd, "/project");
  const { PATH, MM_ASK_DEPTH, MM_SUBAGENT_STATE } = start?.env ?? {};
  assert.deepEqual([PATH, MM_ASK_DEPTH, MM_SUBAGENT_STATE], ["/bin", "1", "/state"]);
  await children.close();
});

test("where this agent has no configuration file, a subagent looks for none", async () => {
  const { run, started, children } = stage({ configFile: undefined });
  await run(KEY);
  assert.deepEqual(started[0]?.command.slice(-1), ["-defaults"]);
  await children.close();
});

test("runs of one definition share a process; another version, directory or name has its own", async () => {
  const { children, run, started } = stage();
  const child = await run(KEY);
  assert.equal(await run({ ...KEY, name: "EXPLORE" }), child);
  assert.equal(started.length, 1);
  const others = [{ ...KEY, version: "2" }, { ...KEY, cwd: "/other" }, { ...KEY, name: "fork" }];
  for (const key of others) assert.notEqual(await run(key), child);
  assert.equal(started.length, 4);
  await children.close();
});

test("of the children that wait for another run eight stay, those that were used last", async () => {
  const { children, run, started, stopped } = stage();
  const keyOf = (at: number) => ({ ...KEY, name: `agent-${at}` });
  const work = Promise.withResolvers<void>();
  const busy = children.use(keyOf(0), async (child) => {
    await child.running({ cwd: "/", helloMs: 60_000, signal: new AbortController().signal });
    await work.promise;
  });
  for (let at = 1; at <= 10; at++) await run(keyOf(at));
  await run(keyOf(3));
  await run(keyOf(11));
  // The one at work does not count; the third was used again.
  const running = [];
  for (let at = 0; at <= 11; at++) if (await children.runs(keyOf(at))) running.push(at);
  assert.deepEqual(running, [0, 3, 5, 6, 7, 8, 9, 10, 11]);
  assert.equal(stopped(), 3);
  work.resolve();
  await busy;
  // Whoever was ended is started again.
  await run(keyOf(1));
  assert.equal(started.length, 13);
  await children.close();
  assert.equal(stopped(), 13);
});

test("a child that nobody asked for, or that is gone, does not run", async () => {
  const { children, run } = stage();
  assert.equal(await children.runs(KEY), false);
  const child = await run(KEY);
  assert.equal(await children.runs(KEY), true);
  child.kill();
  await child.stop();
  assert.equal(await children.runs(KEY), false);
});

test("a child that could not be made is made by the next run", async () => {
  const places = [Promise.reject(new Error("the disk is full")), Promise.resolve("/state")];
  const { children, run, started } = stage({ stateDir: () => places.shift()! });
  await assert.rejects(run(KEY), /the disk is full/u);
  await run(KEY);
  assert.equal(started.length, 1);
  await children.close();
});

test("a child that is being made at the end is not started, and the end is one all the same", async () => {
  const { promise: place, resolve } = Promise.withResolvers<string>();
  const { children, run, started } = stage({ stateDir: () => place });
  const running = run(KEY);
  const closed = children.close();
  resolve("/state");
  await assert.rejects(running, /mm is ending/u);
  await closed;
  assert.deepEqual(started, []);
});

test("at the end every child is stopped, and none is started any more", async () => {
  const { children, run, started, stopped } = stage();
  await run(KEY);
  await run({ ...KEY, name: "fork" });
  await children.close();
  assert.equal(stopped(), 2);
  await assert.rejects(run({ ...KEY, name: "late" }), /mm is ending/u);
  assert.equal(started.length, 2);
});
