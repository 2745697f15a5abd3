import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { idlePool } from "../agents/testing.ts";
import { DELEGATION } from "../config/testing.ts";
import type { DelegationConfig } from "../config/types.ts";
import { Gate } from "../gate/gate.ts";
import type { Message } from "../model/types.ts";
import type { ToolContext } from "../tools/tool.ts";
import { testProject } from "../tools/testing.ts";
import type { AgentArguments } from "./agent_arguments.ts";
import { BUILTIN_DEFINITIONS } from "./builtin_definitions.ts";
import type { AgentDefinition, DefinitionBook } from "./definition.ts";
import { MAX_MODEL_RUNS } from "./delegation_limits.ts";
import { Launcher, type LaunchSetup } from "./launch.ts";
import { RunReports } from "./run_report.ts";
import { type Prompt, runsStage, says } from "./runs_testing.ts";
import type { Worktree, Worktrees } from "./worktree.ts";

const TASK = { description: "A task", prompt: "Do it" };

/** What the conversation has read. */
const FILES = [{ path: "/a.txt", mtimeMs: 1, size: 2 }];

const never = () => Promise.reject(new Error("This is not called"));

/** A book with the built-in definitions, and others of these fields. */
function bookOf(...more: readonly Partial<AgentDefinition>[]): DefinitionBook {
  const [builtin] = BUILTIN_DEFINITIONS;
  const definitions = [
    ...BUILTIN_DEFINITIONS,
    ...more.map((fields) => ({ ...builtin!, ...fields, version: fields.name ?? "" })),
  ];
  return {
    offered: definitions,
    faults: [],
    current: () => Promise.resolve({ definitions, faults: [], unused: [] }),
    find: (name) => {
      const definition = definitions.find((one) => one.name === name);
      return Promise.resolve(
        definition === undefined ? { error: `there is no "${name}"` } : { definition },
      );
    },
  };
}

/** A launcher whose subagents answer with `prompt`; `prompts` is what they were told. */
async function stage(
  t: TestContext,
  options: Partial<Omit<LaunchSetup, "config" | "offer">> & {
    readonly config?: Partial<DelegationConfig>;
    readonly offer?: Partial<LaunchSetup["offer"]>;
    readonly prompt?: Prompt;
    readonly deny?: readonly string[];
  } = {},
) {
  const { config = {}, offer = {}, prompt = says("Done."), deny = [], ...setup } = options;
  const { context } = await testProject(t);
  const prompts: string[] = [];
  const copies: (readonly Message[])[] = [];
  const warnings: string[] = [];
  const { runs } = runsStage((text, more) => {
    prompts.push(text);
    return prompt(text, more);
  });
  const messages: Message[] = [
    { role: "system", text: "s" },
    { role: "user", text: "Go" },
    {
      role: "assistant",
      text: "",
      toolCalls: [{ id: "call-1", name: "agent", arguments: "{}" }],
    },
  ];
  const launcher = new Launcher({
    config: { ...DELEGATION, ...config },
    offer: { background: true, forks: true, worktrees: true, ...offer },
    depth: 0,
    headless: false,
    cwd: "/",
    book: bookOf(),
    pool: idlePool(),
    gate: new Gate({
      rules: { allow: [], ask: [], deny },
      honourAllowRules: true,
      askPermission: () => Promise.resolve({ kind: "reject_once" }),
    }),
    runs,
    reports: new RunReports({ maxOutput: 1000, folder: never, redact: (text) => text }),
    worktrees: undefined,
    forkSource: () => ({ system: "s", tools: [], messages, files: FILES }),
    copy: (history) => {
      copies.push(history);
      return Promise.resolve(`copy-${copies.length}`);
    },
    warn: (text) => void warnings.push(text),
    ...setup,
  });
  const launch = (args: Partial<AgentArguments> = {}, changed: Partial<ToolContext> = {}) =>
    launcher.launch({ ...TASK, ...args }, { ...context, requestId: "call-1", ...changed });
  return { launcher, launch, runs, prompts, copies, warnings };
}

/** Whether a result is that of a run in the background. */
const isInBackground = (text: string) => /^Started task-[0-9a-f]{6} /u.test(text);

test("who runs in the background: as the call says, else its definition, else the configuration", async (t) => {
  const book = bookOf({ name: "aside", background: true }, { name: "waited", background: false });
  for (const background of [true, false] as const) {
    const { launch } = await stage(t, { book, config: { background } });
    const isAside = async (args: Partial<AgentArguments>) =>
      isInBackground((await launch(args)).text);
    assert.equal(await isAside({}), background);
    assert.equal(await isAside({ subagent_type: "aside" }), true);
    assert.equal(await isAside({ subagent_type: "waited" }), false);
    assert.equal(await isAside({ subagent_type: "aside", run_in_background: false }), false);
    assert.equal(await isAside({ subagent_type: "waited", run_in_background: true }), true);
  }
});

test("where nothing runs in the background every run is waited for, and its report is the result", async (t) => {
  const { launch, runs } = await stage(t, { offer: { background: false } });
  const result = await launch({ run_in_background: true });
  assert.ok(result.ok);
  assert.equal(result.text, "Done.");
  assert.deepEqual(runs.list, []);
});

test("a call at the depth limit starts nothing, whatever was offered", async (t) => {
  const { launch, prompts } = await stage(t, { depth: 2 });
  const { ok, text } = await launch();
  assert.ok(!ok);
  assert.match(text, /^Not started: a chain of subagents ends after 2/u);
  assert.deepEqual(prompts, []);
});

test("a model that starts subagents without end is stopped", async (t) => {
  const { launch } = await stage(t, { config: { background: false } });
  for (let run = 0; run < MAX_MODEL_RUNS; run++) assert.ok((await launch()).ok);
  const { ok, text } = await launch();
  assert.ok(!ok);
  assert.match(text, /^Not started: this session has started 200 subagents/u);
});

test("an unknown name starts nothing, and the reason is that of the book", async (t) => {
  const { launch } = await stage(t);
  const result = await launch({ subagent_type: "frob" });
  assert.deepEqual(result, { ok: false, text: 'Not started: there is no "frob"' });
});

test("an agent of mmConfigs comes before a definition of its name, as far as it may be asked", async (t) => {
  const entries = [{ name: "explore", path: "/explore.yaml" }];
  const pool = idlePool({ entries });
  const explore = { subagent_type: "explore" };
  const { launch, runs } = await stage(t, { pool });
  await launch(explore);
  assert.deepEqual(runs.list.map(({ target }) => target.kind), ["entry"]);
  await runs.close();

  const limited = idlePool({ entries, depth: 2 });
  const { launch: tooDeep } = await stage(t, { pool: limited });
  const { ok, text } = await tooDeep(explore);
  assert.deepEqual([ok, text], [false, `Not started: ${limited.limit}`]);

  const { launch: denied } = await stage(t, { pool, deny: ["ask_agent(explore)"] });
  const refused = await denied(explore);
  assert.ok(!refused.ok);
  assert.match(refused.text, /^Not started: .*ask_agent\(explore\)/u);
});

test("what a definition asks for and does not get is told once, as long as it says the same", async (t) => {
  const notes = ["no hooks here", "no memory"];
  const book = bookOf({ name: "foreign", notes });
  const { launch, warnings } = await stage(t, { book });
  await launch({ subagent_type: "foreign" });
  await launch({ subagent_type: "foreign" });
  assert.deepEqual(warnings, ["The subagent foreign: no hooks here; no memory"]);
});

test("a fork begins with the whole conversation up to the call that makes it", async (t) => {
  const { launch, runs, copies, prompts } = await stage(t);
  await launch({ subagent_type: "Fork", fork_tools: ["Read"] });
  const [run] = runs.list;
  assert.ok(run?.target.kind === "fork");
  await runs.ended(run, new AbortController().signal);
  assert.deepEqual(run.target, {
    kind: "fork",
    sessionId: "copy-1",
    opening: { system: "s", tools: [], allow: ["read"], callId: "call-1", files: FILES },
  });
  assert.deepEqual(copies[0]?.map(({ role }) => role), ["user", "assistant"]);
  assert.match(prompts[0] ?? "", /\nTask:\nDo it\n\nHere you may run only read\./u);
});

test("a fork of a part of the conversation does not know what the whole has read", async (t) => {
  const { launch, runs } = await stage(t);
  await launch({ subagent_type: "fork", fork_turns: "1" });
  const target = runs.list[0]?.target;
  assert.ok(target?.kind === "fork");
  assert.equal(target.opening.files, undefined);
});

test("a fork for a person is the result of no call", async (t) => {
  const { launcher, runs } = await stage(t);
  const started = await launcher.forkFor("Look", "Look");
  assert.ok("id" in started);
  const target = runs.get(started.id)?.target;
  assert.deepEqual(target?.kind === "fork" && target.opening, {
    system: "s",
    tools: [],
    files: FILES,
  });
});

test("a fork is waited for where the call says so, unless nobody sits at the front end", async (t) => {
  const fork = { subagent_type: "fork", run_in_background: false };
  const waited = await stage(t);
  assert.equal((await waited.launch(fork)).text, "Done.");
  const headless = await stage(t, { headless: true });
  const { text } = await headless.launch(fork);
  assert.ok(isInBackground(text));
  assert.match(text, /run_in_background false does not hold here/u);
  assert.doesNotMatch((await headless.launch({ subagent_type: "fork" })).text, /does not hold/u);
});

test("there are no forks where they are not offered, and none below the top level", async (t) => {
  for (const options of [{ offer: { forks: false } }, { depth: 1 }]) {
    const { launch, copies } = await stage(t, options);
    const { ok, text } = await launch({ subagent_type: "fork" });
    assert.ok(!ok);
    assert.match(text, /^Not started: there are no forks here/u);
    assert.deepEqual(copies, []);
  }
});

const WORKTREE: Worktree = {
  path: "/trees/agent-0000001",
  branch: "mm/agent-0000001",
  base: "0".repeat(40),
  origin: "/",
  cwd: "/trees/agent-0000001",
};

/** Worktrees that are made without git; `released` are those that were given back. */
function worktreesOf(more: Partial<Worktrees> = {}) {
  const released: Worktree[] = [];
  const worktrees: Worktrees = {
    create: () => Promise.resolve({ worktree: WORKTREE }),
    release: (worktree) => {
      released.push(worktree);
      return Promise.resolve({ kept: false });
    },
    existing: ({ path }) =>
      path === "fix"
        ? Promise.resolve({ path: "/fix", origin: "/" })
        : Promise.resolve({ error: "it is none" }),
    alive: () => Promise.resolve(true),
    sweep: () => Promise.resolve(),
    ...more,
  };
  return { worktrees, released };
}

const ISOLATED = { subagent_type: "explore", isolation: "worktree" } as const;

test("a run in a worktree works there, and is told so before its task", async (t) => {
  const { worktrees } = worktreesOf();
  const { launch, runs, prompts } = await stage(t, { worktrees });
  await launch(ISOLATED);
  const [run] = runs.list;
  assert.deepEqual([run?.cwd, run?.worktree], [WORKTREE.cwd, WORKTREE]);
  await runs.ended(run!, new AbortController().signal);
  assert.match(prompts[0] ?? "", /^\[You work in "\/trees\/agent-0000001".*\]\n\nDo it$/su);
});

test("a run in a worktree that exists is waited for, and none is made or given back", async (t) => {
  const { worktrees, released } = worktreesOf({ create: never });
  const book = bookOf({ name: "aside", background: true });
  const { launch, prompts } = await stage(t, { worktrees, book });
  const pinned = { ...ISOLATED, working_dir: "fix" };
  assert.equal((await launch(pinned)).text, "Done.");
  assert.match(prompts[0] ?? "", /^\[You work in "\/fix", a git worktree\./u);
  assert.deepEqual(released, []);
  assert.equal((await launch({ ...pinned, working_dir: "x" })).text, "Not started: it is none");
  const aside = { subagent_type: "aside", working_dir: "fix" };
  assert.match((await launch(aside)).text, /^Not started: aside runs in the background by its/u);
  assert.ok((await launch({ ...aside, run_in_background: false })).ok);
});

test("no run begins without the worktree it was to have", async (t) => {
  const without = await stage(t);
  assert.match((await without.launch(ISOLATED)).text, /^Not started: there are no worktrees here/u);
  const { worktrees } = worktreesOf({ create: () => Promise.resolve({ error: "no commit yet" }) });
  const { launch, prompts } = await stage(t, { worktrees });
  assert.equal((await launch(ISOLATED)).text, "Not started: no commit yet");
  const pool = idlePool({
    entries: [{ name: "bob", path: "/bob.yaml", cwd: "/elsewhere" }],
  });
  const asked = await stage(t, { worktrees, pool });
  const bob = await asked.launch({ ...ISOLATED, subagent_type: "bob" });
  assert.match(bob.text, /^Not started: bob works in a directory of its own/u);
  assert.deepEqual([...prompts, ...asked.prompts], []);
});

test("where a type is unknown the agents of mmConfigs and forks are named with the definitions", async (t) => {
  const also: (readonly string[] | undefined)[] = [];
  const book: DefinitionBook = {
    ...bookOf(),
    find: (_, more) => {
      also.push(more);
      return Promise.resolve({ error: "unknown" });
    },
  };
  const entries = [{ name: "bob", path: "/bob.yaml" }];
  const unknown = { subagent_type: "bbo" };
  await (await stage(t, { book, pool: idlePool({ entries }) })).launch(unknown);
  const pool = idlePool({ entries, depth: 2 });
  await (await stage(t, { book, pool, offer: { forks: false } })).launch(unknown);
  assert.deepEqual(also, [["bob", "fork"], []]);
});

test("a worktree that was made for a call that is cancelled is given back", async (t) => {
  const stop = new AbortController();
  const { worktrees, released } = worktreesOf({
    create: () => {
      stop.abort(new Error("no more"));
      return Promise.resolve({ worktree: WORKTREE });
    },
  });
  const { launch, runs, prompts } = await stage(t, { worktrees });
  await assert.rejects(launch(ISOLATED, { signal: stop.signal }), /no more/u);
  assert.deepEqual(released, [WORKTREE]);
  assert.deepEqual([runs.list, prompts], [[], []]);
});

test("runs begin in the order of the calls, however long each takes to prepare", async (t) => {
  const { promise: made, resolve } = Promise.withResolvers<void>();
  const { worktrees } = worktreesOf({
    create: async () => {
      await made;
      return { worktree: WORKTREE };
    },
  });
  const { launch, runs } = await stage(t, { worktrees });
  const slow = launch({ ...ISOLATED, description: "first" });
  const quick = launch({ description: "second" });
  resolve();
  await Promise.all([slow, quick]);
  assert.deepEqual(runs.list.map(({ description }) => description), ["first", "second"]);
});

test("a run that is waited for is a success only where it answered, as in the background", async (t) => {
  for (const [stop, ok] of [["end_turn", true], ["max_turn_requests", false]] as const) {
    const { launch } = await stage(t, {
      prompt: (_text, { onUpdate }) => {
        onUpdate({ type: "text", text: "So far." });
        return Promise.resolve({ stop });
      },
    });
    const result = await launch({ run_in_background: false });
    assert.equal(result.ok, ok, stop);
    assert.match(result.text, /^So far\./u);
  }
});
