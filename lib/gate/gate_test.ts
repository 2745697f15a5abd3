import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { ToolCallView } from "../base/tool_call.ts";
import type { PermissionRules } from "../config/types.ts";
import { Gate, type GateCall } from "./gate.ts";
import type { AskPermission, PermissionAnswer, PermissionQuestion } from "./question.ts";

const NEVER = new AbortController().signal;
const NO_RULES: PermissionRules = { allow: [], ask: [], deny: [] };

function call(
  name: string,
  options: Omit<Partial<GateCall>, "view"> & { view?: Partial<ToolCallView> } = {},
) {
  const { view, ...rest } = options;
  return {
    agent: "",
    gated: true,
    yolo: false,
    cwd: "/",
    ...rest,
    view: {
      id: "1",
      name,
      title: "ls",
      kind: "execute" as const,
      input: { command: "ls" },
      ...view,
    },
  };
}

function person(...answers: PermissionAnswer["kind"][]) {
  const asked: PermissionQuestion[] = [];
  const ask: AskPermission = (question) => {
    asked.push(question);
    const kind = answers.shift() ?? "reject_once";
    return Promise.resolve(
      kind === "unavailable" ? { kind, reason: "nobody is there" } : { kind },
    );
  };
  return { asked, ask };
}

function gate(ask: AskPermission, rules: Partial<PermissionRules> = {}, honourAllowRules = true) {
  return new Gate({ rules: { ...NO_RULES, ...rules }, honourAllowRules, askPermission: ask });
}

test("a deny rule wins over yolo and over an allow rule", async () => {
  const { ask, asked } = person();
  const g = gate(ask, { deny: ["bash"], allow: ["bash"] });
  const decision = await g.decide(call("bash", { yolo: true }), { signal: NEVER });
  assert.deepEqual(decision, {
    allowed: false,
    why: "denied",
    reason: 'the rule "bash" denies bash',
  });
  assert.equal(asked.length, 0);
});

test("an ask rule asks even under yolo, and each time", async () => {
  const { ask, asked } = person("allow_session", "allow_once");
  const g = gate(ask, { ask: ["bash"] });
  assert.ok((await g.decide(call("bash", { yolo: true }), { signal: NEVER })).allowed);
  assert.ok((await g.decide(call("bash", { yolo: true }), { signal: NEVER })).allowed);
  assert.equal(asked.length, 2);
});

test("a call whose agent has a rule that wants a person asks each time, whatever else allows it", async () => {
  const { ask, asked } = person("allow_session", "allow_once", "unavailable");
  const bobs = (name: string) => call(name, { agent: "bob", yolo: true, mustAsk: true });
  const g = gate(ask, { allow: ["bob/bash"], deny: ["bob/edit"] });
  assert.ok((await g.decide(bobs("bob/bash"), { signal: NEVER })).allowed);
  assert.ok((await g.decide(bobs("bob/bash"), { signal: NEVER })).allowed);
  assert.ok(!(await g.decide(bobs("bob/bash"), { signal: NEVER })).allowed);
  assert.equal(asked.length, 3);
  assert.equal(asked[0]?.mustAsk, "a rule of permissions.ask that bob has");
  const denied = await g.decide(bobs("bob/edit"), { signal: NEVER });
  assert.ok(!denied.allowed && denied.why === "denied");
  assert.equal(asked.length, 3);
});

test("the question says which rule wants a person, and nothing where none does", async () => {
  const { ask, asked } = person();
  const g = gate(ask, { ask: ["bob/bash(l*)"] });
  await g.decide(call("bob/bash", { mustAsk: true, agent: "bob" }), { signal: NEVER });
  await g.decide(call("write"), { signal: NEVER });
  assert.equal(asked[0]?.mustAsk, 'the rule "bob/bash(l*)" of permissions.ask');
  assert.ok(asked[1] !== undefined && !("mustAsk" in asked[1]));
});

test("rules that name a subagent hold in it, also for calls that need no leave, and permit nothing", async () => {
  const { ask, asked } = person("reject_once");
  const rules = {
    subagent: "Explore",
    allow: ["explore/bash", "Explore/bash", "*/bash"],
    ask: ["explore/grep"],
    deny: ["EXPLORE/read(l*)", "exp*/glob", "other/ls", "*/fetch"],
  };
  const g = gate(ask, rules);
  const reads = (name: string) =>
    g.decide(call(name, { gated: false, yolo: true }), { signal: NEVER });
  const denied = await reads("read");
  assert.deepEqual(denied, {
    allowed: false,
    why: "denied",
    reason: 'the rule "EXPLORE/read(l*)" denies read',
  });
  for (const name of ["glob", "fetch"]) assert.ok(!(await reads(name)).allowed, name);
  assert.equal(asked.length, 0);
  assert.ok((await reads("ls")).allowed);
  assert.ok(!(await reads("grep")).allowed);
  assert.equal(asked[0]?.mustAsk, 'the rule "explore/grep" of permissions.ask');
  assert.ok(!(await g.decide(call("bash"), { signal: NEVER })).allowed);
  assert.equal(asked.length, 2);
  const mine = gate(ask, { deny: rules.deny });
  assert.ok((await mine.decide(call("read", { gated: false }), { signal: NEVER })).allowed);
});

test("yolo and ungated calls run without a question", async () => {
  const { ask, asked } = person();
  const g = gate(ask);
  assert.ok((await g.decide(call("bash", { yolo: true }), { signal: NEVER })).allowed);
  assert.ok((await g.decide(call("read", { gated: false }), { signal: NEVER })).allowed);
  assert.equal(asked.length, 0);
});

test("an allow rule counts only where allow rules are honoured", async () => {
  const { ask, asked } = person("reject_once");
  assert.ok(
    (await gate(ask, { allow: ["bash(ls)"] }).decide(call("bash"), { signal: NEVER })).allowed,
  );
  const asking = gate(ask, { allow: ["bash(ls)"] }, false);
  assert.ok(!(await asking.decide(call("bash"), { signal: NEVER })).allowed);
  assert.equal(asked.length, 1);
});

test("a grant for the session covers that name and no other", async () => {
  const { ask, asked } = person("allow_session", "reject_once");
  const g = gate(ask);
  assert.ok((await g.decide(call("bash"), { signal: NEVER })).allowed);
  assert.ok((await g.decide(call("bash"), { signal: NEVER })).allowed);
  assert.ok(!(await g.decide(call("bob/bash", { agent: "bob" }), { signal: NEVER })).allowed);
  assert.equal(asked.length, 2);
});

test("forget() takes back what was answered for the session", async () => {
  const { ask, asked } = person("allow_session", "reject_session", "reject_once", "allow_once");
  const g = gate(ask);
  await g.decide(call("bash"), { signal: NEVER });
  await g.decide(call("write"), { signal: NEVER });
  g.forget();
  assert.ok(!(await g.decide(call("bash"), { signal: NEVER })).allowed);
  assert.ok((await g.decide(call("write"), { signal: NEVER })).allowed);
  assert.equal(asked.length, 4);
});

test("a question of a run in the background that nobody answers yet holds up no turn", async () => {
  const { promise: later, resolve: answer } = Promise.withResolvers<PermissionAnswer>();
  const { ask } = person("allow_once");
  const g = gate((question, options) =>
    question.taskId === undefined ? ask(question, options) : later
  );
  const background = g.decide(call("explore/bash", { taskId: "task-1f09ab" }), { signal: NEVER });
  assert.deepEqual(await g.decide(call("bash"), { signal: NEVER }), { allowed: true });
  answer({ kind: "allow_session" });
  assert.deepEqual(await background, { allowed: true });
  assert.deepEqual(
    await g.decide(call("explore/bash", { taskId: "task-2e3d4c" }), { signal: NEVER }),
    { allowed: true },
  );
});

test("questions are put one after the other and a grant answers those that wait", async () => {
  const first = Promise.withResolvers<PermissionAnswer>();
  let asked = 0;
  const g = gate(() => {
    asked++;
    return first.promise;
  });
  const all = [1, 2, 3].map(() => g.decide(call("bash"), { signal: NEVER }));
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(asked, 1);
  first.resolve({ kind: "allow_session" });
  assert.deepEqual((await Promise.all(all)).map((d) => d.allowed), [true, true, true]);
  assert.equal(asked, 1);
});

test("a front end that throws, answers nonsense or has nobody refuses", async () => {
  for (
    const ask of [
      () => Promise.reject(new Error("broken")),
      () => Promise.resolve({ kind: "yes please" } as unknown as PermissionAnswer),
      person("unavailable").ask,
    ]
  ) {
    const decision = await gate(ask).decide(call("bash"), { signal: NEVER });
    assert.equal(decision.allowed, false);
    assert.equal(decision.allowed === false && decision.why, "unavailable");
  }
});

test("an answer that comes after the cancel allows nothing", async () => {
  const controller = new AbortController();
  const answer = Promise.withResolvers<PermissionAnswer>();
  const decision = gate(() => answer.promise).decide(call("bash"), { signal: controller.signal });
  controller.abort();
  answer.resolve({ kind: "allow_session" });
  assert.deepEqual(await decision, {
    allowed: false,
    why: "cancelled",
    reason: "the turn was cancelled",
  });
});

test("a path pattern sees through links and dots", async (t) => {
  const root = await mkdtemp(join(tmpdir(), "mm-gate-"));
  t.after(() => rm(root, { recursive: true }));
  await mkdir(join(root, "src"));
  await mkdir(join(root, "secret"));
  await symlink(join(root, "secret"), join(root, "src/link"));
  const { ask } = person();
  const g = gate(ask, { allow: ["write(src/*)"] });
  const write = (path: string) =>
    g.decide(
      call("write", {
        cwd: root,
        view: { kind: "edit", input: { path }, locations: [{ path: join(root, path) }] },
      }),
      { signal: NEVER },
    );
  assert.ok((await write("src/new.txt")).allowed);
  assert.ok(!(await write("src/../secret/x")).allowed);
  assert.ok(!(await write("src/link/x")).allowed);
});
