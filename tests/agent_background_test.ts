/** Subagents in the background: where runs go, how their ends are told, and what is left of them. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { promisify } from "node:util";
import { endsIn, idsIn, ofSubagent, runCalls, textsOf, withStage } from "./support/agent_stage.ts";
import { bash, delegate } from "./support/agents.ts";
import { processesOf } from "./support/leftovers.ts";
import { inOrder, onTool, onUser } from "./support/model_server.ts";
import { oneAgent } from "./support/one_agent.ts";
import { withProject } from "./support/project.ts";

const { list, stop, wait } = runCalls;
const STARTED = /^Started task-[0-9a-f]{6} \(general-purpose\) in the background\./u;

/** A definition that says where it runs. */
const definition = (name: string, background: boolean) =>
  `---\nname: ${name}\ndescription: Helps\nbackground: ${background}\n---\nYou are the ${name}.\n`;

test("a call says where its run goes, else the definition, else the configuration", () =>
  withStage([onUser("Look", { text: "Seen." })], async (stage) => {
    await stage.p.write(".mm/agents/near.md", definition("near", false));
    await stage.p.write(".mm/agents/far.md", definition("far", true));
    const near = { subagent_type: "near" };
    const far = { subagent_type: "far" };
    const results = await stage.call(
      delegate("Look"),
      delegate("Look", { run_in_background: true }),
      delegate("Look", { run_in_background: false }),
      delegate("Look", near),
      delegate("Look", { ...near, run_in_background: true }),
      delegate("Look", far),
      delegate("Look", { ...far, run_in_background: false }),
    );
    assert.deepEqual(results.map((text) => text.startsWith("Started ")), [
      true,
      true,
      false,
      false,
      true,
      true,
      false,
    ]);
    assert.match(results[0] ?? "", STARTED);
    assert.equal(results.filter((text) => text === "Seen.").length, 3);
    await stage.call(wait());
  }));

test("where the configuration says so, a run is waited for unless the call wants the background", () =>
  withStage([onUser("Look", { text: "Seen." })], async (stage) => {
    const [plain, wanted] = await stage.call(
      delegate("Look"),
      delegate("Look", { run_in_background: true }),
    );
    assert.equal(plain, "Seen.");
    assert.match(wanted ?? "", STARTED);
    await stage.call(wait());
  }, { agents: { background: false } }));

test("below the first level every run is waited for, and none can be put into the background", () =>
  withStage([
    onUser("Nest", { toolCalls: [delegate("Look"), delegate("Look", { subagent_type: "far" })] }),
    onUser("Hide", { toolCalls: [delegate("Look", { run_in_background: true })] }),
    onUser("Look", { text: "Seen." }),
    (request) =>
      request.last.role === "tool" ? { text: textsOf(request).slice(3).join(" + ") } : undefined,
  ], async (stage) => {
    await stage.p.write(".mm/agents/far.md", definition("far", true));
    const [nested, hidden] = await stage.call(
      delegate("Nest", { run_in_background: false }),
      delegate("Hide", { run_in_background: false }),
    );
    assert.equal(nested, "Seen. + Seen.");
    assert.match(hidden ?? "", /nothing runs in the background here, for no notification/u);
    const nesting = stage.theirs.find((request) => request.lastUser === "Nest");
    for (const name of ["list_agents", "send_message", "wait_agent", "task_stop"]) {
      assert.ok(!nesting?.toolNames.includes(name), name);
    }
  }));

test("a run in a working_dir is waited for, also where a definition or the configuration says else", () =>
  withStage([onUser("Look", { text: "Seen." })], async (stage) => {
    const { p } = stage;
    const git = (...args: string[]) =>
      promisify(execFile)("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], {
        cwd: p.dir,
        env: { ...p.env },
      });
    await git("init", "-q");
    await git("commit", "-q", "--allow-empty", "-m", "Begin");
    await git("worktree", "add", "-q", "../side");
    await p.write(".mm/agents/far.md", definition("far", true));
    // What lies in the worktree is no definition of this session.
    await p.write("../side/.mm/agents/far.md", definition("far", false).replace("the far", "evil"));
    const there = { working_dir: "../side" };
    const results = await stage.call(
      delegate("Look", { ...there, subagent_type: "explore" }),
      delegate("Look", { ...there, subagent_type: "explore", run_in_background: true }),
      delegate("Look", { ...there, subagent_type: "far" }),
      delegate("Look", { ...there, subagent_type: "far", run_in_background: false }),
    );
    assert.equal(results[0], "Seen.");
    assert.match(results[1] ?? "", /"run_in_background": is true, but a run in a working_dir/u);
    assert.match(results[2] ?? "", /^Not started: far runs in the background by its definition/u);
    assert.equal(results[3], "Seen.");
    assert.equal(stage.theirs.length, 2);
    assert.ok(stage.theirs.some(({ system }) => system.startsWith("You are the far.")));
  }));

test("each end is told once, at the beginning of the next prompt, and nothing of the work before", () =>
  withStage([
    onUser("Look", { toolCalls: [bash("echo secret words")] }),
    onTool("secret words", { text: "Seen." }),
    onUser("Fail", { status: 400, body: { error: { message: "no" } } }),
    onUser("Hang", { chunks: ["So", " far"], hang: true, holdAfter: 2 }),
  ], async (stage) => {
    const { editor, session } = stage;
    const looked = await stage.start("Look");
    const failed = await stage.start("Fail");
    const hung = await stage.start("Hang");
    await stage.saved(looked, "ended");
    await stage.saved(failed, "ended");
    await stage.asked("Hang");
    const [stopped = ""] = await stage.call(stop(hung));
    assert.deepEqual(endsIn(stopped), [
      {
        id: hung,
        round: 1,
        status: "cancelled",
        result: "So far\n[general-purpose was cancelled]",
      },
    ]);
    const told = stage.ends;
    assert.deepEqual(
      told.map(({ id, status }) => [id, status]).sort(),
      [
        [looked, "completed"],
        [failed, "failed"],
        [hung, "cancelled"],
      ].sort(),
    );
    const before = stage.own.find(({ lastUser }) => lastUser.includes(looked + '"'));
    assert.match(
      before?.lastUser ?? "",
      /^<task-notification>\n[^]*<\/task-notification>\n\nstep/u,
    );
    await editor.prompt(session, "And now?");
    assert.equal(stage.own.at(-1)?.lastUser, "And now?");
    assert.equal(stage.ends.length, 3);
    assert.ok(stage.own.every((request) => !request.raw.includes("secret words")));
    assert.doesNotMatch(JSON.stringify(editor.updates), /secret words/u);
  }));

test("a run that is waited for is in no list, and its end is no notification", () =>
  withStage([onUser("Look", { text: "Seen." })], async (stage) => {
    const [result, listed] = await stage.call(
      delegate("Look", { run_in_background: false }),
      list(),
    );
    assert.equal(result, "Seen.");
    assert.equal(listed, "No subagent was started in the background yet.");
    await stage.editor.prompt(stage.session, "And now?");
    assert.equal(stage.own.at(-1)?.lastUser, "And now?");
  }));

test("the end of mm ends what runs in the background, asks no model again and keeps it as under way", () =>
  withStage([onUser("Run", { toolCalls: [bash("touch begun; sleep 600")] })], async (stage) => {
    const id = await stage.start("Run");
    await stage.fileIs("begun");
    const requests = stage.server.requests.length;
    stage.editor.mm.endInput();
    assert.deepEqual(await stage.editor.mm.exit, { code: 0, signal: null });
    assert.equal(stage.server.requests.length, requests);
    assert.deepEqual(await processesOf(stage.p.mark), []);
    await stage.saved(id, "running");
  }));

test("/new forgets the runs of a conversation and leaves what is saved of them, also after a stop", () =>
  withStage([
    onUser("Look", { text: "Seen." }),
    onUser("Hang", { hang: true }),
  ], async (stage) => {
    const { editor, session } = stage;
    const looked = await stage.start("Look");
    const hung = await stage.start("Hang");
    await stage.saved(looked, "ended");
    await stage.asked("Hang");
    const file = await stage.recordFile();
    await assert.rejects(
      editor.prompt(session, "/new"),
      /A subagent is at work in the background: wait, or end it with \/tasks stop/u,
    );
    const stopping = editor.prompt(session, `/tasks stop ${hung}`);
    await editor.prompt(session, "/new");
    await stopping;
    assert.match(editor.text(session), /A fresh conversation begins\./u);
    const before = editor.text(session).length;
    await editor.prompt(session, "/tasks");
    assert.match(editor.text(session).slice(before), /^No subagent was started/u);
    await editor.prompt(session, "Hello");
    assert.equal(stage.own.at(-1)?.lastUser, "Hello");
    assert.ok(existsSync(file));
    assert.deepEqual(new Set(idsIn(await readFile(file, "utf8"))), new Set([looked, hung]));
  }));

test("-p waits for every run, also for those that its later turns start", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, [
      (request) => ofSubagent(request) ? { text: `${request.lastUser} is done.` } : undefined,
      inOrder(
        { toolCalls: [delegate("One")] },
        { text: "I wait for one." },
        { toolCalls: [delegate("Two"), delegate("Three")] },
        { text: "I wait for more." },
      ),
      (request) =>
        endsIn(textsOf(request).join("\n")).length < 3
          ? { text: "One of them is missing." }
          : { text: "All three." },
    ], { yolo: true });
    const { stdout, stderr, code } = await p.runMm(["-p", "Do all"]);
    assert.equal(code, 0, stderr);
    assert.equal(stdout, "All three.\n", stderr);
    const ids = new Set(idsIn(stderr));
    assert.equal(ids.size, 3);
    for (const id of ids) {
      const said = stderr.match(new RegExp(`general-purpose \\(${id}\\) \\w+`, "gu"));
      assert.deepEqual(said?.map((words) => words.split(" ")[2]), ["started", "ended"], stderr);
    }
    const own = server.requests.filter((request) => !ofSubagent(request));
    const ends = endsIn(textsOf(own.at(-1)).join("\n"));
    assert.deepEqual(ends.map(({ result }) => result).sort(), [
      "One is done.",
      "Three is done.",
      "Two is done.",
    ]);
  }));

test("what ends during a turn is told in one message after it", () => {
  const both = Promise.withResolvers<void>();
  return withProject(async (p) => {
    const server = await oneAgent(p, [
      (request) => ofSubagent(request) ? { text: `${request.lastUser} is done.` } : undefined,
      inOrder(
        { toolCalls: [delegate("One"), delegate("Two")] },
        { text: "I wait.", holdUntil: both.promise },
        { text: "Both." },
      ),
    ], { yolo: true });
    const mm = p.mm(["-p", "Do both"], { stdin: "" });
    await mm.waitForOutput(/\(task-\w+\) ended[^]*\(task-\w+\) ended/u, { stream: "stderr" });
    both.resolve();
    assert.deepEqual(await mm.exit, { code: 0, signal: null });
    assert.equal(mm.stdout, "Both.\n");
    const told = server.requests.at(-1)?.lastUser ?? "";
    assert.equal(endsIn(told).length, 2);
    assert.match(told, /<remaining>no other subagent is at work<\/remaining>/u);
  });
});
