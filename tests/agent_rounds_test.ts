/**
 * Subagents in the background are started, told more, stopped, killed, and cut off by the end of mm, by
 * chance: each round of a run has one end that the model is told of, and nothing is left at the end.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { AgentStage, idsIn, runCalls } from "./support/agent_stage.ts";
import { bash } from "./support/agents.ts";
import { assertNoProcessLeft, processesOf } from "./support/leftovers.ts";
import type { Reply, Rule } from "./support/model_server.ts";
import { type TestProject, withProject } from "./support/project.ts";
import { Random } from "./support/random.ts";

const { list, send, stop } = runCalls;

const ROUNDS = 100;

/** Another one may be set, to look for what this one does not find. */
const SEED = Number(process.env["MM_TEST_SEED"] ?? 20_261_130);

/** Who is started: four definitions, and copies of the conversation. */
const AGENTS = ["ann", "bea", "cid", "dee", "fork"] as const;
type Agent = typeof AGENTS[number];

/** Runs at the same time. */
const SLOTS = 8;

/** Runs of an agent that something happens to: the last so many. */
const RECENT = 2;

interface KnownRun {
  readonly id: string;
  readonly agent: Agent;
  /** Rounds that began, by what the model was told. */
  rounds: number;
}

/** What is known of everything that happened. */
interface World {
  readonly stage: AgentStage;
  readonly runs: KnownRun[];
  /** Rounds that an end of mm cut off: `<id> <round>`. */
  readonly cut: Set<string>;
  /** How often what was done. */
  readonly done: Map<string, number>;
}

test("whatever happens to runs, each round has one end, and no process and no worktree is left", () =>
  withProject(async (p) => {
    process.stderr.write(`the seed is ${SEED}\n`);
    const release = Promise.withResolvers<void>();
    const stage = new AgentStage(p, [behaviour(release.promise)], {
      agents: { maxParallel: SLOTS },
    });
    await stage.serve({ window: 10_000_000 });
    await makeRepository(p);
    await stage.open();
    const world: World = { stage, runs: [], cut: new Set(), done: new Map() };
    for (let round = 0; round < ROUNDS; round++) {
      await happen(world, round);
      await sleep(new Random(SEED * 1000 - round).whole(0, 15));
    }
    release.resolve();
    await comeToRest(world);
    await assertEnds(world);
    await stage.editor.mm.stop();
    await assertNoProcessLeft(p.mark);
    await assertNoWorktree(p);
    // That it was the mixture it is meant to be.
    const { done, cut } = world;
    for (const what of ["start", "message", "stop", "kill", "restart"]) {
      assert.ok(done.has(what), `nothing of the kind "${what}" happened`);
    }
    assert.ok(cut.size > 0, "no round was cut off");
    const ends = stage.ends.map(({ status }) => status);
    for (const status of [/completed/u, /cancelled/u, /failed|died/u]) {
      assert.ok(ends.some((end) => status.test(end)), `${status} in ${ends}`);
    }
  }));

/** The model of the subagents: the last word of what it reads says what it does. */
function behaviour(released: Promise<void>): Rule {
  return ({ last }): Reply => {
    const [, word, number = ""] = /\b(quick|slow|tool|hold|fail) (\d+)$/u.exec(last.text) ?? [];
    switch (word) {
      case "slow":
        return { text: `Slowly ${number}.`, delayMs: 20 + Number(number) % 60 };
      case "tool":
        return { toolCalls: [bash(`echo ${number}`)] };
      case "hold":
        return { text: `Held ${number}.`, holdUntil: released };
      case "fail":
        return { status: 400, body: { error: { message: `No ${number}` } } };
      default:
        return { text: `Done ${number}.` };
    }
  };
}

function task(random: Random, round: number): string {
  const word = random.weighted([
    [4, "quick"],
    [4, "slow"],
    [4, "tool"],
    [6, "hold"],
    [2, "fail"],
  ]);
  return `${word} ${round}`;
}

/** One thing happens. */
async function happen(world: World, round: number): Promise<void> {
  const { stage, runs, done } = world;
  // Of its own for each round: what it chooses hangs on nothing that came before.
  const random = new Random(SEED * 1000 + round);
  // A conversation that has no prompt yet could not be gone on with.
  const what = round === 0 ? "start" : random.weighted([
    [30, "start"],
    [36, "message"],
    [14, "stop"],
    [12, "kill"],
    [5, "restart"],
  ]);
  const agent = random.one(AGENTS);
  const text = task(random, round);
  const known = runs.filter((run) => run.agent === agent).slice(-RECENT);
  const run = known[random.whole(0, 1) % Math.max(1, known.length)];
  done.set(what, (done.get(what) ?? 0) + 1);
  switch (what) {
    case "kill":
      return await killChild(stage, (await atWork(world, random))?.agent ?? agent);
    case "restart":
      return await restart(world);
    case "stop": {
      const chosen = await atWork(world, random) ?? run;
      return void (chosen === undefined || await stage.call(stop(chosen.id)));
    }
    case "message":
      if (run !== undefined) return await tell(world, run, text);
  }
  const isolated = (agent === "ann" || agent === "bea") && random.chance(0.5);
  const id = await stage.start(text, {
    subagent_type: agent,
    ...(isolated ? { isolation: "worktree" } : {}),
  });
  runs.push({ id, agent, rounds: 1 });
  if (random.chance(0.6)) await underWay(stage, id, text);
}

/** One of the runs that work. */
async function atWork({ stage, runs }: World, random: Random): Promise<KnownRun | undefined> {
  const records = await stage.records();
  const [first, ...others] = runs.filter(({ id }) => records.get(id)?.state === "running");
  return first === undefined ? undefined : random.one([first, ...others]);
}

async function tell({ stage }: World, run: KnownRun, message: string): Promise<void> {
  const [text = ""] = await stage.call(send(run.id, message));
  assert.match(text, /gets the message|goes on with the message|^Not sent|^There is no/u);
  if (!text.includes("goes on with the message")) return;
  run.rounds++;
  if (new Random(run.rounds).chance(0.6)) await underWay(stage, run.id, message);
}

/** Waits until a run's model was asked, it ended, or it has to wait for a slot. */
async function underWay(stage: AgentStage, id: string, text: string): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!stage.theirs.some((request) => request.last.text.endsWith(text))) {
    assert.ok(performance.now() < deadline, `${id} does not begin with "${text}"`);
    const records = await stage.records();
    const state = records.get(id)?.state;
    const taken = [...records.values()].filter((one) => one.state === "running").length;
    if (state === "ended" || (state === "queued" && taken >= SLOTS)) return;
    await sleep(5);
  }
}

/** Ends the process of an agent, with all runs that are in it. */
async function killChild(stage: AgentStage, agent: Agent): Promise<void> {
  for (const { pid, command } of await processesOf(stage.p.mark)) {
    if (!command.includes(` -agent ${agent} `)) continue;
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It ended by itself.
    }
  }
}

/** Ends mm with `kill -9` and goes on with its conversation. */
async function restart({ stage, cut }: World): Promise<void> {
  await stage.kill();
  for (const { id, state, rounds } of (await stage.records()).values()) {
    if (state !== "ended") cut.add(`${id} ${rounds}`);
  }
  await stage.open();
}

/** Goes on with some of what was cut off, gives the rest up, and waits for all. */
async function comeToRest(world: World): Promise<void> {
  const { stage, runs } = world;
  const paused = async () => {
    const [listed = ""] = await stage.call(list());
    return idsIn(listed.split("\n").filter((line) => line.includes(" | paused | ")).join("\n"));
  };
  for (const [at, id] of (await paused()).entries()) {
    const run = runs.find((one) => one.id === id);
    assert.ok(run !== undefined, id);
    if (at % 2 === 0) await tell(world, run, "quick 1000");
  }
  await stage.finish();
  for (const id of await paused()) await stage.call(stop(id));
  await stage.finish();
  const [listed = ""] = await stage.call(list());
  assert.doesNotMatch(listed, / \| (?:queued|running|parked|paused) \| /u);
}

async function assertEnds({ stage, runs, cut }: World): Promise<void> {
  const told = new Map<string, number>();
  for (const { id, round } of stage.ends) {
    const key = `${id} ${round}`;
    told.set(key, (told.get(key) ?? 0) + 1);
  }
  const records = await stage.records();
  for (const { id, rounds } of runs) {
    assert.equal(records.get(id)?.rounds, rounds, `rounds of ${id}`);
    assert.equal(records.get(id)?.state, "ended", id);
    for (let round = 1; round <= rounds; round++) {
      const key = `${id} ${round}`;
      assert.equal(told.get(key) ?? 0, cut.has(key) ? 0 : 1, `ends of round ${round} of ${id}`);
      told.delete(key);
    }
  }
  assert.deepEqual([...told], []);
}

async function makeRepository(p: TestProject): Promise<void> {
  for (const name of AGENTS.filter((agent) => agent !== "fork")) {
    const text = `---\nname: ${name}\ndescription: does a part\n---\nYou do a part of the work.\n`;
    await p.write(`.mm/agents/${name}.md`, text);
  }
  const config = "[user]\nname = t\nemail = t@t\n[init]\ndefaultBranch = main\n";
  await writeFile(join(p.home, ".gitconfig"), config);
  for (const args of [["init"], ["add", "--all"], ["commit", "-m", "first"]]) await git(p, ...args);
}

async function git(p: TestProject, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)("git", args, { cwd: p.dir, env: p.env });
  return stdout.trim();
}

async function assertNoWorktree(p: TestProject): Promise<void> {
  assert.equal(await git(p, "branch", "--format=%(refname:short)"), "main");
  assert.equal((await git(p, "worktree", "list")).split("\n").length, 1);
  assert.equal(await git(p, "status", "--porcelain", "--ignored"), "");
  const found = await readdir(join(p.stateDir, "worktrees"), {
    recursive: true,
    withFileTypes: true,
  })
    .catch(() => []);
  assert.deepEqual(found.filter((one) => one.isFile()).map(({ name }) => name), []);
}
