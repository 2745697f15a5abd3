import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChildConnection, ChildSession } from "../agents/child_connection.ts";
import { openingOf, type OpenRunSetup } from "./open_run.ts";
import { Run, type RunOptions, type RunTarget } from "./run.ts";
import { TARGET } from "./runs_testing.ts";

const FORK = {
  kind: "fork",
  sessionId: "copy",
  opening: { system: "s", tools: [], callId: "call-1" },
} satisfies RunTarget;

/** Opens the session of a run; returns how the child was asked to. */
async function opened(run: Partial<RunOptions>, setup: Partial<OpenRunSetup> = {}) {
  const asked: unknown[] = [];
  const session = {} as ChildSession;
  const connection: Partial<ChildConnection> = {
    newSession: ({ cwd, opening }) => {
      asked.push({ cwd, opening });
      return Promise.resolve(session);
    },
    loadSession: ({ cwd, id, opening }) => {
      asked.push({ cwd, id, opening });
      return Promise.resolve(session);
    },
  };
  const open = openingOf(
    new Run({
      id: "task-000001",
      target: TARGET,
      description: "A task",
      cwd: "/",
      background: true,
      ...run,
    }),
    { settings: () => undefined, mcpServers: undefined, ...setup },
  );
  const { signal } = new AbortController();
  assert.equal(await open(connection as ChildConnection, { cwd: "/", signal }), session);
  return asked;
}

test("a run begins in a new session, which is saved only where it can go on later", async () => {
  assert.deepEqual(await opened({}), [{ cwd: "/", opening: {} }]);
  const waited = [{ cwd: "/", opening: { save: false } }];
  assert.deepEqual(await opened({ background: false }), waited);
});

test("a run that goes on loads the session it had, unless nothing of it was saved", async () => {
  const before = { sessionId: "s1" };
  assert.deepEqual(await opened(before), [{ cwd: "/", id: "s1", opening: {} }]);
  await assert.rejects(opened({ ...before, background: false }), {
    name: "ChildError",
    message: "its process ended, and its conversation with it",
  });
});

test("a fork loads the copy it is of; the call that made it is answered once", async () => {
  const { callId: _, ...closed } = FORK.opening;
  const first = [{ cwd: "/", id: "copy", opening: { fork: FORK.opening } }];
  assert.deepEqual(await opened({ target: FORK }), first);
  assert.deepEqual(await opened({ target: FORK, background: false }), first);
  const again = [{ cwd: "/", id: "s1", opening: { fork: closed } }];
  assert.deepEqual(await opened({ target: FORK, sessionId: "s1" }), again);
});

test("what a person changed of the model holds for a subagent whose definition names none", async () => {
  const setup: Partial<OpenRunSetup> = {
    settings: () => ({ model: "other" }),
    mcpServers: [{ name: "git", command: ["git-mcp"] }],
  };
  const mcpServers = setup.mcpServers;
  const settings = { model: "other" };
  assert.deepEqual(await opened({}, setup), [{ cwd: "/", opening: { settings, mcpServers } }]);
  assert.ok(TARGET.kind === "definition");
  const definition = { ...TARGET.definition, model: "own" };
  const own = await opened({ target: { kind: "definition", definition } }, setup);
  assert.deepEqual(own, [{ cwd: "/", opening: { mcpServers } }]);
});
