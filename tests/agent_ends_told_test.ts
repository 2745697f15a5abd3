/** What the model is told of the ends of subagents: once, truly, with the way to go on. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { endsIn, idsIn, lastResults, runCalls, textsOf, withStage } from "./support/agent_stage.ts";
import { bash, delegate } from "./support/agents.ts";
import { onTool, onUser } from "./support/model_server.ts";

const inline = (prompt: string) => delegate(prompt, { run_in_background: false });

const GOES_ON = /\n\n\[send_message with the task_id (task-[0-9a-f]{6}) makes it go on\]$/u;

test("a subagent that is waited for and fails, or stops at a limit, is named, and goes on with what it knows", () =>
  withStage([
    onUser("Fail", { toolCalls: [bash("echo found > it")] }),
    onTool("exit status 0", { status: 400, body: { error: { message: "the model is down" } } }),
    onUser("Say", { text: "Half of", finish: "length" }),
    onUser("go on", ({ messages }) => ({ text: `I know ${messages.length - 2} messages.` })),
  ], async (stage) => {
    const [failed = "", half = ""] = await stage.call(inline("Fail"), inline("Say it"));
    assert.match(failed, /^\[general-purpose failed: [^]*the model is down/u);
    assert.match(half, /^Half of\n\[general-purpose stopped before the end: output limit\]/u);
    const ids = [failed, half].map((text) => GOES_ON.exec(text)?.[1] ?? text);
    const [list = ""] = await stage.call(runCalls.list());
    assert.match(
      list,
      new RegExp(`^${ids[0]} \\| [^\\n]* failed \\| [^\\n]* takes messages`, "mu"),
    );
    await stage.rounds(ids.map((id) => runCalls.send(id, "Now go on")), [runCalls.wait()]);
    const ends = ids.map((id) => stage.ends.filter((end) => end.id === id));
    assert.deepEqual(ends.map((of) => of.map(({ round, status }) => [round, status])), [
      [[2, "completed"]],
      [[2, "completed"]],
    ]);
    // The task, its call, what that gave, the note of the failure.
    assert.equal(ends[0]?.[0]?.result, "I know 4 messages.");
    assert.equal(ends[1]?.[0]?.result, "I know 2 messages.");
  }));

test("a subagent that is cancelled with its turn is named in the conversation, and goes on in the next", () =>
  withStage([
    onUser("Find", { chunks: ["It is", " in a.ts"], holdAfter: 1, hang: true }),
    onUser("go on", { text: "It is in a.ts." }),
  ], async (stage) => {
    const { editor, session } = stage;
    const turn = editor.prompt(session, stage.plan([inline("Find it")]));
    await editor.waitForUpdate(({ update }) => JSON.stringify(update).includes("It is"));
    editor.cancel(session);
    assert.equal((await turn).stopReason, "cancelled");
    await editor.prompt(session, "Where were we?");
    const text = textsOf(stage.own.at(-1)).find((one) => GOES_ON.test(one)) ?? "";
    assert.match(text, /^It is\n\[general-purpose was cancelled\]\n\n/u);
    const id = GOES_ON.exec(text)?.[1] ?? "";
    await stage.rounds([runCalls.send(id, "Now go on")], [runCalls.wait(id)]);
    assert.deepEqual(stage.ends.map(({ round, status, result }) => [round, status, result]), [
      [2, "completed", "It is in a.ts."],
    ]);
    const [, again] = stage.theirs;
    assert.deepEqual(textsOf(again).slice(1, 2), ["Find it"]);
  }));

test("each run in the background has one end, however it ends: by itself, badly, stopped, killed, with mm", () =>
  withStage([
    onUser("Work", { text: "Done it." }),
    onUser("Fail", { status: 400, body: { error: { message: "the model is down" } } }),
    onUser("Stop", { hang: true }),
    onUser("Kill", { toolCalls: [bash("kill -9 $PPID")] }),
    onUser("go on", { text: "Done after all." }),
  ], async (stage) => {
    for (const name of ["works", "fails", "stops", "killed"]) {
      // Another definition is another process.
      const text = `---\nname: ${name}\ndescription: One\n---\nYou do what you are told.\n`;
      await stage.p.write(`.mm/agents/${name}.md`, text);
    }
    const start = (name: string, prompt: string) => stage.start(prompt, { subagent_type: name });
    const works = await start("works", "Work");
    const fails = await start("fails", "Fail");
    const stops = await start("stops", "Stop");
    const killed = await start("killed", "Kill");
    await stage.asked("Stop");
    await stage.call(runCalls.stop(stops));
    await stage.call(runCalls.wait());
    const late = await start("stops", "Stop again");
    await stage.asked("Stop again");
    await stage.editor.prompt(stage.session, "Anything else?");
    const told = () => Object.fromEntries(stage.ends.map(({ id, status }) => [id, status]));
    const before = {
      [works]: "completed",
      [fails]: "failed",
      [stops]: "cancelled",
      [killed]: "died",
    };
    assert.deepEqual(told(), before);
    assert.equal(stage.ends.length, 4);

    await stage.editor.mm.stop();
    // The definitions that were written meanwhile are described from now on.
    stage.server.allowNewPrefix();
    await stage.open();
    await stage.editor.prompt(stage.session, "And now?");
    assert.equal(stage.ends.length, 4, "what ended with mm has no end yet");
    await stage.rounds([runCalls.send(late, "Now go on")], [runCalls.wait()]);
    assert.deepEqual(told(), { ...before, [late]: "completed" });
    assert.equal(stage.ends.length, 5);
  }));

test("a run that answered stays completed, whatever is asked of it afterwards", () =>
  withStage([onUser("Work", { text: "Done it." })], async (stage) => {
    const id = await stage.start("Work");
    await stage.asked("Work").then(({ done }) => done);
    const results = await stage.rounds([runCalls.wait(id)], [
      runCalls.list(),
      runCalls.stop(id),
      runCalls.wait(id),
      runCalls.list(),
    ]);
    const listed = new RegExp(
      `^${id} \\| general-purpose \\| completed \\| .* \\| takes messages \\|`,
      "u",
    );
    assert.match(results[0] ?? "", listed);
    assert.equal(results[1], `Not stopped: ${id} has ended already (completed).`);
    assert.match(results[2] ?? "", new RegExp(`^${id} has ended \\(completed\\)`, "u"));
    assert.match(results[3] ?? "", listed);
    assert.deepEqual(stage.ends, [{ id, round: 1, status: "completed", result: "Done it." }]);
    await stage.editor.prompt(stage.session, `/tasks ${id}`);
    assert.match(stage.editor.text(stage.session), /answered\nDone it\./u);
  }));

test("a start says that the result comes by itself; a model that asks again and again is stopped", () =>
  withStage([onUser("Work", { hang: true })], async (stage) => {
    const { editor, session } = stage;
    const same = Array.from({ length: 30 }, () => [runCalls.list()]);
    const [started = ""] = await stage.call(delegate("Work"));
    const [id = ""] = idsIn(started);
    assert.equal(
      started,
      `Started ${id} (general-purpose) in the background. Its result comes by itself in a later ` +
        "message; go on with other work or end your turn. Do not start it again, and do not do its " +
        "task yourself.",
    );
    const polling = stage.plan(...same);
    assert.equal((await editor.prompt(session, polling)).stopReason, "max_turn_requests");
    const polled = stage.own.filter(({ lastUser }) => lastUser.endsWith(polling)).length;
    assert.ok(polled < 12, `${polled}`);
    const again = stage.plan(...same.map(() => [delegate("Work")]));
    assert.equal((await editor.prompt(session, again)).stopReason, "max_turn_requests");
    const [list = ""] = await stage.call(runCalls.list());
    const runs = list.split("\n").length;
    assert.ok(runs < 12, `${runs}`);
    assert.equal(lastResults(stage.own.at(-1))[0], list);
    assert.deepEqual(endsIn(list), []);
  }));
