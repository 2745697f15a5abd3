/** Messages to subagents in the background: while they work, when they have ended, and in between. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import process from "node:process";
import { test } from "node:test";
import {
  endsIn,
  FROM,
  idsIn,
  lastResults,
  runCalls,
  textsOf,
  withStage,
} from "./support/agent_stage.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { bash, delegate } from "./support/agents.ts";
import { always, onTool, onUser } from "./support/model_server.ts";
import { processesOf } from "./support/leftovers.ts";

const { list, send, stop, wait } = runCalls;

/** What a subagent was told, by the requests to its model. */
const messagesIn = (texts: readonly string[]) =>
  texts.flatMap((text) => [...text.matchAll(/\[message from [^\]]+\]\n(\w+)/gu)].map(([, m]) => m));

test("messages to a run at work are read after its tool calls, in the order they were sent", () => {
  return withStage([
    onUser("Work", { toolCalls: [bash("until [ -e go ]; do sleep 0.02; done; echo met")] }),
    onTool("met", { text: "Done so far." }),
  ], async (stage) => {
    const id = await stage.start("Work");
    await stage.asked("Work");
    await stage.saved(id, "running");
    const told = await stage.call(send(id, "one"), send(id, "two"), send(id, "three"));
    for (const text of told) assert.match(text, /^task-\w+ gets the message: after its next tool/u);
    await stage.p.write("go", "");
    const ends = await stage.finish();
    assert.deepEqual(ends.map(({ round, status }) => [round, status]), [[1, "completed"]]);
    assert.equal(stage.theirs.length, 2);
    assert.deepEqual(lastResults(stage.theirs[1]), [
      `met\n[exit status 0]\n\n${FROM}one\n\n${FROM}two\n\n${FROM}three`,
    ]);
  });
});

test("messages to a run that waits for a slot follow its task, each as a prompt of its own", () => {
  const go = Promise.withResolvers<void>();
  return withStage([
    onUser("First", { text: "One.", holdUntil: go.promise }),
    onUser("Second", { text: "Two." }),
    onUser("later", { text: "Three." }),
    onUser("last", { text: "Four." }),
  ], async (stage) => {
    await stage.start("First");
    await stage.asked("First");
    const id = await stage.start("Second");
    const [listed = "", ...told] = await stage.call(list(), send(id, "later"), send(id, "last"));
    assert.match(listed, new RegExp(`${id} \\| general-purpose \\| queued \\|`, "u"));
    for (const text of told) assert.match(text, /gets the message/u);
    go.resolve();
    const ends = (await stage.finish()).filter((end) => end.id === id);
    assert.deepEqual(ends.map((end) => [end.round, end.result]), [[1, "Four."]]);
    assert.deepEqual(textsOf(stage.theirs.at(-1)).slice(1), [
      "Second",
      "Two.",
      `${FROM}later`,
      "Three.",
      `${FROM}last`,
    ]);
  }, { agents: { maxParallel: 1 } });
});

test("a run that is unknown, failed or was stopped takes no message, and the words say which", () =>
  withStage([
    onUser("Fail", { status: 400, body: { error: { message: "no" } } }),
    onUser("Hang", { hang: true }),
  ], async (stage) => {
    const failed = await stage.start("Fail");
    const stopped = await stage.start("Hang");
    await stage.asked("Hang");
    await stage.call(wait(failed), stop(stopped));
    const [unknown = "", ...refused] = await stage.call(
      send(`${failed.slice(0, -1)}x`, "Hello"),
      send(failed, "Hello"),
      send(stopped, "Hello"),
      list(),
    );
    assert.match(unknown, /^There is no subagent "task-\w+": there are task-/u);
    assert.ok(unknown.includes(failed) && unknown.includes(stopped), unknown);
    assert.match(refused[0] ?? "", /^Not sent: task-\w+ takes no messages: .*\(failed\)/u);
    assert.match(refused[1] ?? "", /^Not sent: task-\w+ takes no messages: .*\(cancelled\)/u);
    assert.equal(refused[2]?.match(/resume_blocked_reason: its last run ended/gu)?.length, 2);
    assert.equal(stage.theirs.length, 2);
  }));

test("a message has one address and a text: anything else is refused before it is sent", () =>
  withStage([always({ text: "Answer." })], async (stage) => {
    const id = await stage.start("Work");
    await stage.call(wait());
    const wrong = [
      { to: id, message: "Hello" },
      { message: "Hello" },
      { task_id: id, to: "all", message: "Hello" },
      { task_id: id },
      { task_id: id, message: " \n" },
      { task_id: id, message: "x".repeat(65_537) },
      { task_id: id, message: "x".repeat(65_536) },
    ];
    const results = await stage.call(
      ...wrong.map((args) => ({ name: "send_message", arguments: args })),
    );
    const sent = results.map((text) => / goes on with the message/u.test(text));
    assert.deepEqual(sent, [false, false, false, false, false, false, true], results.join("\n"));
  }));

test("a run that ended goes on in its process, and in another one from what was saved, and remembers", () =>
  withStage([
    onUser("Remember", { toolCalls: [bash("echo nonce-81723")] }),
    onTool("nonce", { text: "Noted." }),
    onUser(/again\?$/u, { text: "It was nonce-81723." }),
  ], async (stage) => {
    const id = await stage.start("Remember");
    await stage.call(wait());
    const before = stage.theirs.at(-1);
    const children = async () =>
      (await processesOf(stage.p.mark)).filter(({ command }) => command.includes(" -agent "));
    const [first, ...others] = await children();
    assert.ok(first !== undefined && others.length === 0);

    await stage.call(send(id, "What was it again?"), wait());
    const [same] = await children();
    assert.equal(same?.pid, first.pid);
    process.kill(first.pid, "SIGKILL");
    // The number is free once its parent has seen the end.
    while (existsSync(`/proc/${first.pid}`)) await sleep(5);
    await stage.call(send(id, "And again?"), wait());
    assert.notEqual((await children())[0]?.pid, first.pid);

    const [second, third] = stage.theirs.slice(-2);
    assert.deepEqual(textsOf(second).slice(0, 4), textsOf(before));
    assert.deepEqual(textsOf(third).slice(0, 6), textsOf(second));
    assert.equal(third?.last.text, `${FROM}And again?`);
    assert.deepEqual(stage.ends.map(({ round, status }) => [round, status]), [
      [1, "completed"],
      [2, "completed"],
      [3, "completed"],
    ]);
  }));

test("two messages to a run that ended make it go on once, and are read in order", () => {
  const go = Promise.withResolvers<void>();
  return withStage([
    onUser("Work", { text: "Done." }),
    onUser("one", { text: "Done with one.", holdUntil: go.promise }),
    onUser("two", { text: "Done with both." }),
  ], async (stage) => {
    const id = await stage.start("Work");
    await stage.call(wait());
    const told = await stage.call(send(id, "one"), send(id, "two"));
    assert.match(told[0] ?? "", /goes on with the message/u);
    assert.match(told[1] ?? "", /gets the message/u);
    go.resolve();
    const ends = await stage.finish();
    assert.deepEqual(ends.map(({ round, result }) => [round, result]), [[2, "Done with both."]]);
    assert.deepEqual(messagesIn(textsOf(stage.theirs.at(-1))), ["one", "two"]);
    assert.match((await stage.call(wait()))[0] ?? "", /every result was given to you/u);
  });
});

test("a message while a hook looks at the end is not lost: the run goes on with it", () =>
  withStage([
    onUser("Work", { text: "Done." }),
    onUser("more", { text: "Done with more." }),
  ], async (stage) => {
    const { p } = stage;
    const id = await stage.start("Work");
    await stage.fileIs("stopping");
    const [told = ""] = await stage.call(send(id, "more"));
    assert.match(told, /gets the message/u);
    await p.write("go", "");
    const ends = await stage.finish();
    assert.deepEqual(ends.map((one) => [one.round, one.result]), [[1, "Done with more."]]);
  }, {
    hooks: {
      subagentStop: [{ run: "touch stopping; until [ -e go ]; do sleep 0.02; done" }],
    },
  }));

test("whenever a message comes around the end of a run, it is read once and answered", () =>
  withStage([
    always(({ last }) => ({ text: `Answer to ${last.text.slice(-8)}`, chunkDelayMs: 2 })),
  ], async (stage) => {
    const id = await stage.start("Work 0000");
    await stage.call(wait());
    const sent: string[] = [];
    for (let at = 0; at < 40; at++) {
      const name = `m${String(at).padStart(3, "0")}`;
      sent.push(name);
      await stage.call(send(id, name));
      // Steps of 0.5 ms through the time that an answer takes.
      await sleep(at / 2);
    }
    await stage.call(wait());
    assert.deepEqual(messagesIn(textsOf(stage.theirs.at(-1))), sent);
    const ends = stage.ends;
    const rounds = ends.map(({ round }) => round);
    assert.deepEqual(rounds, rounds.map((_, at) => at + 1));
    assert.match(ends.at(-1)?.result ?? "", /m039/u);
  }));

test("the ends before and after a message that came between are told apart by their round", () =>
  withStage([
    onUser("Work", { text: "First answer." }),
    onUser("more", { text: "Second answer." }),
  ], async (stage) => {
    // In one turn, so that nobody is told of the first end before the message.
    const [, , result = ""] = await stage.rounds(
      [delegate("Work")],
      ({ last }) => [
        bash(`until grep -q '"state":"ended"' ${stage.p.stateDir}/projects/*/*.agents.jsonl; do
          sleep 0.02; done`),
        send(idsIn(last.text)[0] ?? "", "more"),
        wait(),
      ],
    );
    const [id = ""] = idsIn(result);
    assert.deepEqual(endsIn(result), [
      { id, round: 1, status: "completed", result: "First answer." },
      { id, round: 2, status: "completed", result: "Second answer." },
    ]);
    assert.equal(stage.ends.length, 2);
  }));
