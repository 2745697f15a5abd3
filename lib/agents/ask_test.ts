import assert from "node:assert/strict";
import { test } from "node:test";
import type { Child } from "../platform/process.ts";
import { MAX_ANSWER } from "./answer_text.ts";
import { ask, type OpenSession, type ResidentSession } from "./ask.ts";
import { ChildAgent } from "./child_agent.ts";
import { ChildError, type ChildSession, type ChildStop } from "./child_connection.ts";
import { playedChild } from "./testing.ts";

/** An agent of played processes: what they are asked, and how to end the one that runs. */
interface Played {
  readonly agent: ChildAgent;
  /** What was done with sessions, in order: `new s1`, `load s1`, `prompt s1: text`, `close s1`. */
  readonly did: string[];
  /** Ends the process that runs. */
  die(): void;
}

/** An agent whose sessions answer in `prompt`. */
function played(prompt: ChildSession["prompt"]): Played {
  const did: string[] = [];
  let die = () => {};
  let opened = 0;
  const open = (id: string): ChildSession => ({
    id,
    label: undefined,
    window: undefined,
    prompt: (text, options) => {
      did.push(`prompt ${id}: ${text}`);
      return prompt(text, options);
    },
    steer: () => Promise.resolve(false),
    close: () => {
      did.push(`close ${id}`);
      return Promise.resolve();
    },
  });
  const agent = new ChildAgent({
    name: "bob",
    command: ["bob"],
    env: {},
    start: () => {
      const child = playedChild({ code: 1, signal: null });
      die = () => child.kill();
      return Promise.resolve(child);
    },
    connect: (child) =>
      Promise.resolve({
        title: undefined,
        closed: (child as Child).ended.then(() => {}),
        newSession: () => {
          const id = `s${++opened}`;
          did.push(`new ${id}`);
          return Promise.resolve(open(id));
        },
        loadSession: ({ id }) => {
          did.push(`load ${id}`);
          return Promise.resolve(open(id));
        },
        close: () => {},
      }),
    redact: (text) => text,
  });
  return { agent, did, die: () => die() };
}

/** Options of an ask of which the test says the rest. */
const COMMON = {
  agent: "bob",
  prompt: "hi",
  cwd: "/",
  signal: new AbortController().signal,
  silenceMs: 60_000,
  callBudgetMs: 60_000,
  onUpdate: () => {},
  onBusy: () => {},
  onPermission: () => Promise.resolve({ kind: "reject_once" } as const),
};

const answers = (stop: ChildStop): ChildSession["prompt"] => () => Promise.resolve({ stop });

test("an answer without end is given up, and the agent told to stop", async () => {
  const piece = "x".repeat(8 * 1024 * 1024);
  let told = false;
  let shown = 0;
  const result = await ask({
    ...COMMON,
    child: played(async (_text, { signal, onUpdate }) => {
      while (!signal.aborted && shown < 2 * MAX_ANSWER) {
        onUpdate({ type: "text", text: piece });
        await Promise.resolve();
      }
      told = signal.aborted;
      return { stop: "cancelled" };
    }).agent,
    onUpdate: (update) => shown += update.type === "text" ? update.text.length : 0,
  });
  assert.deepEqual(result.end, {
    kind: "failed",
    reason: `its answer is longer than ${MAX_ANSWER} characters`,
  });
  assert.ok(told);
  assert.ok(shown <= MAX_ANSWER);
  assert.equal(result.answer.length, MAX_ANSWER);
});

test("an ask opens a session of its own and closes it", async () => {
  const { agent: child, did } = played(answers("end_turn"));
  const result = await ask({ ...COMMON, child });
  assert.equal(result.resident, undefined);
  await ask({ ...COMMON, child });
  assert.deepEqual(did, [
    "new s1",
    "prompt s1: hi",
    "close s1",
    "new s2",
    "prompt s2: hi",
    "close s2",
  ]);
});

test("a session that is kept is prompted again, and told to who wants to speak to it", async () => {
  const { agent: child, did } = played(answers("max_turn_requests"));
  const told: string[] = [];
  const options = {
    ...COMMON,
    child,
    keep: true,
    onSession: ({ session }: ResidentSession) => told.push(`${session.id} after ${did.at(-1)}`),
  };
  const { resident } = await ask(options);
  assert.equal(resident?.session.id, "s1");
  const again = await ask({ ...options, prompt: "go on", resident: resident as ResidentSession });
  assert.equal(again.resident?.session, resident?.session);
  assert.deepEqual(did, ["new s1", "prompt s1: hi", "prompt s1: go on"]);
  assert.deepEqual(told, ["s1 after new s1", "s1 after prompt s1: hi"]);
  await ask({ ...COMMON, child, resident: resident as ResidentSession });
  assert.equal(did.at(-1), "close s1");
});

test("a session whose child is gone is opened in the next one, as the ask says", async () => {
  const { agent: child, did, die } = played(answers("end_turn"));
  const { resident } = await ask({ ...COMMON, child, keep: true });
  die();
  await resident?.running.connection.closed;
  const open: OpenSession = (connection, options) =>
    connection.loadSession({ ...options, id: "s1" });
  const again = await ask({
    ...COMMON,
    child,
    keep: true,
    open,
    resident: resident as ResidentSession,
  });
  assert.deepEqual(did, ["new s1", "prompt s1: hi", "load s1", "prompt s1: hi"]);
  assert.notEqual(again.resident?.running, resident?.running);
});

test("only an end that leaves a session usable keeps it", async () => {
  const kept = async (prompt: ChildSession["prompt"], signal = COMMON.signal) =>
    (await ask({ ...COMMON, child: played(prompt).agent, keep: true, signal })).resident !==
      undefined;
  for (const stop of ["end_turn", "max_tokens", "max_turn_requests", "loop", "refusal"] as const) {
    assert.equal(await kept(answers(stop)), true, stop);
  }
  assert.equal(await kept(answers({ unknown: "moon" })), false);
  const fails = (kind: ChildError["kind"]): ChildSession["prompt"] => () =>
    Promise.reject(new ChildError(kind, "the model is down"));
  assert.equal(await kept(fails("agent")), true, "it said so itself");
  assert.equal(await kept(fails("closed")), false);
  const stop = new AbortController();
  const inTime: ChildSession["prompt"] = () => {
    stop.abort();
    return Promise.resolve({ stop: "cancelled" });
  };
  assert.equal(await kept(inTime, stop.signal), true);
  const never = new AbortController();
  const deaf: ChildSession["prompt"] = () => {
    never.abort();
    return new Promise(() => {});
  };
  assert.equal(await kept(deaf, never.signal), false);
});

test("an ask that was cancelled before it began starts nobody and sends nothing", async () => {
  const { agent: child, did } = played(answers("end_turn"));
  const result = await ask({ ...COMMON, child, signal: AbortSignal.abort() });
  assert.deepEqual(result.end, { kind: "cancelled" });
  assert.deepEqual(did, []);
  assert.equal(child.state, "not started");
});

test("an agent that opens no session is given up after its time, and its process ended", async () => {
  const { agent: child, did } = played(answers("end_turn"));
  const open: OpenSession = () => new Promise(() => {});
  const { end } = await ask({ ...COMMON, child, open, sessionMs: 20 });
  assert.deepEqual(
    { ...end, cause: undefined },
    { kind: "failed", reason: "it opened no session within 20 ms", cause: undefined },
  );
  assert.equal(child.state, "not started");
  assert.equal((await ask({ ...COMMON, child })).end.kind, "answered");
  assert.deepEqual(did, ["new s1", "prompt s1: hi", "close s1"]);
});

test("what an agent does after the end of an ask reaches nobody, and permits nothing", async () => {
  let late = () => Promise.resolve({ kind: "allow_once" } as { readonly kind: string });
  let shown = 0;
  const result = await ask({
    ...COMMON,
    child: played((_text, { onUpdate, onPermission }) => {
      late = () => {
        onUpdate({ type: "text", text: "too late" });
        return onPermission({ id: "1" }, { signal: COMMON.signal });
      };
      return new Promise(() => {});
    }).agent,
    silenceMs: 20,
    onUpdate: () => shown++,
    onPermission: () => Promise.resolve({ kind: "allow_once" } as const),
  });
  assert.equal(result.end.kind, "timed_out");
  assert.deepEqual(await late(), { kind: "cancelled" });
  assert.equal(shown, 0);
  assert.equal(result.answer, "");
});

test("a front end that throws ends the ask and leaves nothing behind", async () => {
  let told = false;
  const { agent: child, did } = played(({ length }, { signal, onUpdate }) => {
    onUpdate({ type: "text", text: `${length}` });
    told = signal.aborted;
    return Promise.resolve({ stop: "cancelled" });
  });
  const { end, resident } = await ask({
    ...COMMON,
    child,
    keep: true,
    onUpdate: () => {
      throw new Error("the pipe broke");
    },
  });
  assert.equal(end.kind, "failed");
  assert.equal("reason" in end && end.reason, "what it did could not be shown: the pipe broke");
  assert.equal(told, true, "the agent is told to stop");
  assert.equal(resident, undefined);
  assert.deepEqual(did, ["new s1", "prompt s1: hi", "close s1"]);
});

test("an agent that closes its output and lives on is ended, and the ask with it", async () => {
  const { agent: child } = played((_text, { onUpdate }) => {
    onUpdate({ type: "text", text: "so far" });
    return Promise.reject(new ChildError("closed", "the connection is gone"));
  });
  const { end, answer } = await ask({ ...COMMON, child });
  assert.deepEqual(end, { kind: "died", code: 1, signal: null, stderr: "" });
  assert.equal(answer, "so far");
  assert.equal(child.state, "not started");
});
