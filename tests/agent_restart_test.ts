/** What becomes of subagents in the background when mm ends, and is started again. */
import assert from "node:assert/strict";
import { appendFile, readFile } from "node:fs/promises";
import { test } from "node:test";
import {
  AgentStage,
  endsIn,
  FROM,
  idsIn,
  lastResults,
  runCalls,
  textsOf,
  withStage,
} from "./support/agent_stage.ts";
import { bash, delegate } from "./support/agents.ts";
import { always, onTool, onUser } from "./support/model_server.ts";
import { withProject } from "./support/project.ts";
import { conversationFiles, savedFiles } from "./support/saved_files.ts";

const { list, send, stop, wait } = runCalls;

const REMINDER = /\[mm: this conversation has background subagents of before:/gu;

/** The lines of `list_agents`, by the id of the run. */
async function listed(stage: AgentStage): Promise<Map<string, string>> {
  const [text = ""] = await stage.call(list());
  return new Map(text.split("\n").map((line) => [line.slice(0, 11), line]));
}

/** Kills mm while a run is at work; returns its id. */
async function killedAtWork(stage: AgentStage): Promise<string> {
  const id = await stage.start("Hang");
  await stage.asked("Hang");
  await stage.saved(id, "running");
  await stage.kill();
  return id;
}

test("after kill -9 a run at work is paused, one that ended stays so, and nothing starts by itself", () =>
  withStage([
    onUser("Finish", { text: "Finished." }),
    onUser("Hang", { hang: true }),
    onUser("Go on", { text: "Resumed." }),
    onUser("More", { text: "More of it." }),
  ], async (stage) => {
    const done = await stage.start("Finish");
    await stage.call(wait());
    const cut = await killedAtWork(stage);
    const before = stage.theirs.length;

    await stage.open();
    const runs = await listed(stage);
    assert.deepEqual([...runs.keys()], [done, cut]);
    assert.match(runs.get(done) ?? "", /\| completed \| takes messages \|/u);
    assert.match(runs.get(cut) ?? "", /\| paused \| takes messages \|/u);
    assert.equal(stage.theirs.length, before);
    // What was told once is not told again.
    assert.deepEqual(stage.ends.map(({ id, round }) => [id, round]), [[done, 1]]);

    const ends = await stage.finish(send(cut, "Go on"), send(done, "More"));
    const resumed = await stage.asked("Go on");
    const [task, mark = "", message] = textsOf(resumed).slice(1);
    assert.deepEqual([task, message], ["Hang", `${FROM}Go on`]);
    // How much its process noticed before it was ended too.
    assert.match(mark, /^\[(?:interrupted|cancelled by the user)\]$/u);
    assert.deepEqual(textsOf(await stage.asked("More")).slice(1), [
      "Finish",
      "Finished.",
      `${FROM}More`,
    ]);
    assert.deepEqual(ends.map(({ id, round, result }) => [id, round, result]), [
      [done, 2, "More of it."],
      [cut, 2, "Resumed."],
    ]);
    assert.equal(textsOf(stage.own.at(-1)).join("").match(REMINDER)?.length, 1);
  }));

test("a person lets a paused run go on with /tasks tell", () =>
  withStage([
    onUser("Hang", { hang: true }),
    onUser("Go on", { text: "Resumed." }),
  ], async (stage) => {
    const id = await killedAtWork(stage);
    await stage.open();
    await stage.editor.prompt(stage.session, `/tasks tell ${id.slice(5)} Go on`);
    assert.match(
      stage.editor.text(stage.session),
      new RegExp(`${id} goes on with the message`, "u"),
    );
    const [waited = ""] = await stage.call(wait());
    assert.deepEqual(endsIn(waited).map((end) => [end.id, end.result]), [[id, "Resumed."]]);
    assert.equal(stage.theirs.at(-1)?.last.text, `${FROM}Go on`);
  }));

test("a half-finished call of a tool does not stand in the way of going on", () =>
  withStage([
    onUser("Work", { toolCalls: [bash("echo one"), bash("touch begun; sleep 60")] }),
    onUser("Go on", { text: "Resumed." }),
  ], async (stage) => {
    const id = await stage.start("Work");
    await stage.fileIs("begun");
    await stage.kill();
    await stage.open();
    const ends = await stage.finish(send(id, "Go on"));
    assert.deepEqual(ends.map((end) => end.result), ["Resumed."]);
    const texts = textsOf(stage.theirs.at(-1)).slice(1);
    assert.deepEqual(texts.slice(2, 3), ["one\n[exit status 0]"]);
    assert.match(texts[3] ?? "", /^\[(?:interrupted|cancelled)\]$/u);
    assert.equal(texts.at(-1), `${FROM}Go on`);
  }));

test("a run goes on at the address that the model server has now", () =>
  withStage([
    onUser("Hang", { hang: true }),
    onUser("Go on", { text: "Resumed." }),
  ], async (stage) => {
    const id = await killedAtWork(stage);
    const old = stage.server;
    const asked = old.requests.length + old.probes.length;
    await stage.serve();
    assert.notEqual(stage.server.port, old.port);
    // It has not seen the conversations that go on there.
    stage.server.allowNewPrefix(10);
    await stage.open();
    const ends = await stage.finish(send(id, "Go on"));
    assert.deepEqual(ends.map(({ status, result }) => [status, result]), [
      ["completed", "Resumed."],
    ]);
    assert.equal(stage.theirs.length, 1);
    assert.equal(old.requests.length + old.probes.length, asked);
    for (const { path } of await savedFiles(stage.p)) {
      assert.doesNotMatch(await readFile(path, "utf8"), new RegExp(`:${old.port}\\b`, "u"), path);
    }
  }));

test("runs that were killed in the queue begin when they are told something, with their task before it", () =>
  withStage([
    onUser("Go on", { text: "Looked." }),
    onTool("Go on", { text: "Looked as a fork." }),
    always({ hang: true }),
  ], async (stage) => {
    await stage.start("Hang");
    await stage.asked("Hang");
    const queued = await stage.start("Look around");
    const fork = await stage.start("Look back", { subagent_type: "fork" });
    await stage.kill();
    await stage.open();
    const lines = await listed(stage);
    for (const id of [queued, fork]) {
      assert.match(lines.get(id) ?? "", / \| paused \| takes messages \| /u);
    }
    const ends = await stage.finish(send(queued, "Go on"), send(fork, "Go on"));
    assert.deepEqual(
      new Map(ends.map(({ id, round, result }) => [id, `${round} ${result}`])),
      new Map([[queued, "2 Looked."], [fork, "2 Looked as a fork."]]),
    );
    const [, ...begun] = stage.theirs;
    const firsts = begun.map(({ last }) => last.text).sort();
    assert.match(firsts.join("\n"), /Task:\nLook back\n\n/u);
    assert.equal(firsts.find((text) => text.startsWith("Look")), `Look around\n\n${FROM}Go on`);
    assert.equal(begun.length, 2);
  }, { agents: { maxParallel: 1 } }));

test("two messages to a paused run resume it once, and are read in order", () => {
  const go = Promise.withResolvers<void>();
  return withStage([
    onUser("Hang", { hang: true }),
    onUser("one", { text: "Done with one.", holdUntil: go.promise }),
    onUser("two", { text: "Done with both." }),
  ], async (stage) => {
    const id = await killedAtWork(stage);
    await stage.open();
    await stage.call(send(id, "one"), send(id, "two"));
    go.resolve();
    const ends = await stage.finish();
    assert.deepEqual(ends.map(({ round, result }) => [round, result]), [[2, "Done with both."]]);
    const told = textsOf(stage.theirs.at(-1)).filter((text) => text.startsWith(FROM));
    assert.deepEqual(told, [`${FROM}one`, `${FROM}two`]);
    assert.equal(stage.theirs.length, 3);
  });
});

test("what was stopped stays stopped after a restart, what a clean end cut off can go on", () =>
  withStage([always({ hang: true })], async (stage) => {
    const [stopped, given, cut] = [
      await stage.start("One"),
      await stage.start("Two"),
      await stage.start("Three"),
    ];
    for (const text of ["One", "Two", "Three"]) await stage.asked(text);
    await stage.call(stop(stopped));
    await stage.editor.mm.stop();
    await stage.open();
    const runs = await listed(stage);
    assert.match(runs.get(stopped) ?? "", /\| cancelled \| .*resume_blocked_reason: /u);
    assert.match(runs.get(given) ?? "", /\| paused \| takes messages \|/u);
    assert.match(runs.get(cut) ?? "", /\| paused \| takes messages \|/u);
    const [said] = await stage.call(stop(given));
    assert.equal(said, `${given} is given up; it was not at work.`);
    assert.match((await listed(stage)).get(given) ?? "", /\| cancelled \|/u);
    await stage.kill();
    await stage.open();
    const again = await listed(stage);
    assert.match(again.get(given) ?? "", /\| cancelled \| .*resume_blocked_reason: /u);
    assert.match(again.get(cut) ?? "", /\| paused \|/u);
    // The end of what was given up is told to nobody.
    assert.deepEqual(stage.ends.map(({ id }) => id), [stopped]);
  }));

test("an end that was not told before mm ended is told once after it", () =>
  withStage([onUser("Work", { text: "Found it." })], async (stage) => {
    const id = await stage.start("Work");
    await stage.saved(id, "ended");
    await stage.kill();
    await stage.open();
    await stage.call(list());
    await stage.kill();
    await stage.open();
    await stage.call(list());
    assert.deepEqual(stage.ends.map(({ id, result }) => [id, result]), [[id, "Found it."]]);
  }));

test("-continue and /resume start nothing, and remind the model once, whatever commands come before", () =>
  withProject(async (p) => {
    const stage = new AgentStage(p, [onUser("Hang", { hang: true })], {});
    await stage.serve();
    const first = p.mm(["-line"]);
    first.writeLine(stage.plan([delegate("Hang")]));
    await stage.asked("Hang");
    const [id = ""] = idsIn((await first.waitForOutput(/Started task-[0-9a-f]{6}/u)).match.join());
    await stage.saved(id, "running");
    first.signal("SIGKILL");
    await first.exit;

    /** Types lines, each when the turn before is over; the model's two last prompts. */
    const typed = async (args: readonly string[], commands: readonly string[]) => {
      const steps = [stage.plan([list()]), stage.plan([list()])];
      const { stdout, stderr, code } = await p.runMm(["-line", ...args], {
        stdin: [...commands, ...steps, ""].join("\n"),
      });
      assert.equal(code, 0, stderr);
      assert.match(stdout, new RegExp(`^${id}  general-purpose  paused  `, "mu"));
      assert.ok(
        stdout.includes(`A subagent of before is paused: ${id} (general-purpose: `),
        stdout,
      );
      return steps.map((step) => {
        const prompt = stage.own.find(({ last }) =>
          last.role === "user" && last.text.endsWith(step)
        );
        assert.match(lastResults(stage.answered(step))[0] ?? "", / \| paused \| /u);
        return prompt?.last.text.match(REMINDER)?.length ?? 0;
      });
    };
    assert.deepEqual(await typed(["-continue"], ["/tasks", "/status", "/ask-nobody"]), [1, 0]);
    const [conversation] = await conversationFiles(p);
    const beginning = conversation?.name.slice(0, 8);
    // The model knows it by now: nothing else was paused since.
    assert.deepEqual(await typed([], [`/resume ${beginning}`, "/tasks"]), [0, 0]);
    assert.equal(stage.theirs.length, 1);
  }));

test("runs in the foreground and lines that are no runs are not shown after a restart", () =>
  withStage([onUser("Work", { text: "Done." })], async (stage) => {
    const id = await stage.start("Work");
    await stage.call(delegate("Work", { run_in_background: false }), wait());
    await stage.kill();
    const legacy = { id: "task-000001", agent: "general-purpose", state: "running" };
    const cases = ["not JSON", JSON.stringify(legacy), '{"id":"../x"}', '{"id":"task-00'];
    await appendFile(await stage.recordFile(), cases.join("\n"));
    await stage.open();
    assert.deepEqual([...(await listed(stage)).keys()], [id]);
    await stage.start("Work");
    await stage.call(wait());
    await stage.kill();
    await stage.open();
    assert.equal((await listed(stage)).size, 2);
  }));
