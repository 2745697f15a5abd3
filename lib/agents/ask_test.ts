import assert from "node:assert/strict";
import { test } from "node:test";
import type { Child } from "../platform/process.ts";
import { MAX_ANSWER } from "./answer_text.ts";
import { ask } from "./ask.ts";
import { ChildAgent } from "./child_agent.ts";
import type { ChildSession } from "./child_connection.ts";

/** An agent whose sessions answer in `prompt`. */
function agent(prompt: ChildSession["prompt"]): ChildAgent {
  const child: Child = {
    pid: 1,
    stdin: new WritableStream(),
    stdout: new ReadableStream(),
    ended: new Promise(() => {}),
    stderrTail: () => "",
    stop: () => Promise.resolve({ code: 0, signal: null }),
    kill: () => {},
  };
  const session: ChildSession = {
    id: "s",
    label: undefined,
    window: undefined,
    prompt,
    steer: () => Promise.resolve(false),
    close: () => Promise.resolve(),
  };
  return new ChildAgent({
    name: "bob",
    command: ["bob"],
    env: {},
    start: () => Promise.resolve(child),
    connect: () =>
      Promise.resolve({
        title: undefined,
        closed: new Promise<void>(() => {}),
        newSession: () => Promise.resolve(session),
        loadSession: () => Promise.resolve(session),
        close: () => {},
      }),
    redact: (text) => text,
  });
}

test("an answer without end is given up, and the agent told to stop", async () => {
  const piece = "x".repeat(8 * 1024 * 1024);
  let told = false;
  let shown = 0;
  const result = await ask({
    agent: "bob",
    child: agent(async (_text, { signal, onUpdate }) => {
      while (!signal.aborted && shown < 2 * MAX_ANSWER) {
        onUpdate({ type: "text", text: piece });
        await Promise.resolve();
      }
      told = signal.aborted;
      return { stop: "cancelled" };
    }),
    prompt: "hi",
    cwd: "/",
    signal: new AbortController().signal,
    silenceMs: 60_000,
    callBudgetMs: 60_000,
    onUpdate: (update) => shown += update.type === "text" ? update.text.length : 0,
    onBusy: () => {},
    onPermission: () => Promise.resolve({ kind: "reject_once" }),
  });
  assert.deepEqual(result.end, {
    kind: "failed",
    reason: `its answer is longer than ${MAX_ANSWER} characters`,
  });
  assert.ok(told);
  assert.ok(shown <= MAX_ANSWER);
  assert.equal(result.answer.length, MAX_ANSWER);
});
