/**
 * Subagents in the background, as the front ends of a terminal show them: a prompt that is interrupted and
 * comes back, questions in between, `-p` and pipes that wait.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bash, delegate } from "./support/agents.ts";
import { drive } from "./support/line_stage.ts";
import { inOrder, onUser, type Reply, type Rule } from "./support/model_server.ts";
import { oneAgent } from "./support/one_agent.ts";
import { type TestProject, withProject } from "./support/project.ts";
import { noPty, startInPty } from "./support/pty.ts";
import { forParent, forSubagent, taskOf } from "./support/subagents.ts";

const onTerminal = { skip: noPty };

const QUIET = { permissions: { allow: ["agent"] } };

/** The conversation: its first answers, and what it says when it is told of an end. */
const parent = (...replies: readonly Reply[]) => forParent(inOrder(...replies));

/** A subagent that reports when it is let go. */
function held(report: string): { readonly rule: Rule; readonly go: () => void } {
  const go = Promise.withResolvers<void>();
  return {
    rule: forSubagent(() => ({ text: report, holdUntil: go.promise })),
    go: () => go.resolve(),
  };
}

test("line mode: what ends while a prompt is read is told at once, in a turn of its own", () =>
  withProject(async (p) => {
    const { rule, go } = held("It is in a.ts.");
    const server = await oneAgent(p, [
      rule,
      parent(
        { toolCalls: [delegate("Find it")] },
        { text: "They look for it." },
        { text: "It is found." },
        { text: "Fine." },
      ),
    ], QUIET);
    await drive(p, server, async ({ say, expect }) => {
      await say("Where is it?");
      await expect(/^▸ general-purpose \(task-\w+\) started: A task$/m);
      await expect("They look for it.\n> ");
      go();
      await expect(/^✓ general-purpose \(task-\w+\) ended: A task$/m);
      await expect("It is found.\n> ");
      assert.match(
        server.requests.at(-1)?.lastUser ?? "",
        /^<task-notification>.*It is in a\.ts\./su,
      );
    });
  }));

test("line mode: a subagent asks at the prompt, which comes back after the answer", () =>
  withProject(async (p) => {
    const go = Promise.withResolvers<void>();
    const server = await oneAgent(p, [
      forSubagent((request) =>
        request.last.role === "user"
          ? { toolCalls: [bash("touch made")], holdUntil: go.promise }
          : { text: "Made." }
      ),
      parent({ toolCalls: [delegate("Make it")] }, { text: "Started." }, { text: "It is made." }),
    ], QUIET);
    await drive(p, server, async ({ say, expect, answer }) => {
      await say("Make it");
      await expect("Started.\n> ");
      go.resolve();
      const question = await answer("y");
      assert.match(
        question,
        /🔐 general-purpose\/bash: touch made \(in .*, in the background: task-/u,
      );
      await expect("It is made.\n> ");
      assert.ok(p.exists("made"));
    });
  }));

test("line mode: at the question of a subagent the runs are listed, one is stopped, and mm is left", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, [
      forSubagent(() => ({ toolCalls: [bash("touch made")] })),
      parent(
        { toolCalls: [delegate("Make it"), delegate("Make it")] },
        { text: "Started." },
        // It is told of the end of the one, if that comes before the question of the other.
        { text: "One is stopped." },
      ),
    ], { ...QUIET, agents: { maxParallel: 2 } });
    await drive(p, server, async ({ mm, say, expect, answer }) => {
      await say("Make it");
      const [, id = ""] = /in the background: (task-\w+)/u.exec(await answer("/tasks")) ?? [];
      await expect(new RegExp(`^${id}  general-purpose  \\w+ for .*  A task$`, "mu"));
      await expect(new RegExp(`^🔐 .*${id}`, "mu"));
      await answer(`/tasks stop ${id}`);
      // The question of the other one may come before these words.
      await answer("what?");
      await mm.waitForOutput(`${id} is stopped.`);
      await expect("Answer y, s, n or never; /tasks,");
      await answer("/quit");
      await expect("Stopped: 1 subagent at work\n");
      assert.deepEqual(await mm.exit, { code: 0, signal: null });
      assert.equal(p.exists("made"), false);
    });
  }));

test("line mode: at the end of a pipe mm waits for subagents and tells the model, then leaves", () =>
  withProject(async (p) => {
    await oneAgent(p, [
      forSubagent(() => ({ text: "Done.", delayMs: 300 })),
      parent({ toolCalls: [delegate("Do it")] }, { text: "Started." }, { text: "All is done." }),
    ], QUIET);
    const { code, stdout } = await p.runMm(["-line"], { stdin: "Go\n" });
    assert.equal(code, 0);
    assert.match(stdout, /Started\.\n> \n(?:.*\n)*All is done\.\n$/u);
  }));

test("line mode: /quit leaves at once and says what it stops, and nothing that was started is left", () =>
  withProject(async (p) => {
    const { rule } = held("Never.");
    await oneAgent(p, [
      rule,
      parent({ toolCalls: [delegate("Do it")] }, { text: "Started." }),
    ], QUIET);
    const mm = p.mm(["-line"]);
    mm.writeLine("Go");
    await mm.waitForOutput("Started.\n> ");
    mm.writeLine("/quit");
    assert.deepEqual(await mm.exit, { code: 0, signal: null });
    assert.match(mm.output, /\nStopped: 1 subagent at work\n$/u);
  }));

/** Starts line mode on a terminal; `expect` waits for what comes after what was waited for before. */
function onPty(p: TestProject) {
  const mm = startInPty(p, ["-line"]);
  let from = 0;
  const expect = async (what: string | RegExp) => {
    const found = await mm.waitForOutput(what, { from });
    from = found.end;
    return found.match;
  };
  return { mm, expect };
}

test(
  "a terminal: the line that is being typed survives a delivery and a question",
  onTerminal,
  () =>
    withProject(async (p) => {
      const go = Promise.withResolvers<void>();
      const server = await oneAgent(p, [
        forSubagent((request) =>
          request.last.role === "user"
            ? { toolCalls: [bash("touch made")], holdUntil: go.promise }
            : { text: "Made." }
        ),
        parent(
          { toolCalls: [delegate("Make it")] },
          { text: "Started." },
          { text: "It is made." },
          { text: "Good." },
        ),
      ], QUIET);
      const { mm, expect } = onPty(p);
      await expect("> ");
      mm.write("Make it\r");
      await expect("Started.");
      await expect("> ");
      mm.write("and what ");
      await expect("and what ");
      go.resolve();
      await expect("never for this session > ");
      mm.write("y\r");
      await expect("It is made.");
      await expect("> and what ");
      mm.write("now?\r");
      await expect("Good.");
      assert.equal(server.requests.at(-1)?.lastUser, "and what now?");
      await expect("> ");
      mm.write("\x04");
      await expect("status 0");
    }),
);

test(
  "a terminal: Ctrl-C cancels a delivery, and Ctrl-D says how many subagents it stops",
  onTerminal,
  () =>
    withProject(async (p) => {
      const { rule, go } = held("One.");
      await oneAgent(p, [
        forSubagent((request) => taskOf(request).includes("two") ? { hang: true } : rule(request)),
        parent(
          { toolCalls: [delegate("Do one"), delegate("Do two")] },
          { text: "Started." },
          { text: "So far", hang: true, holdAfter: 2 },
        ),
      ], { ...QUIET, agents: { maxParallel: 2 } });
      const { mm, expect } = onPty(p);
      await expect("> ");
      mm.write("Go\r");
      await expect("Started.");
      await expect("> ");
      go();
      await expect("So far");
      mm.write("\x03");
      await expect("The turn was cancelled");
      await expect("> ");
      mm.write("\x04");
      await expect("Stopped: 1 subagent at work");
      await expect("status 0");
    }),
);

test("-p: the answer and the exit status are those of the last turn; the rest goes to stderr", () =>
  withProject(async (p) => {
    await oneAgent(p, [
      onUser("Do one", { text: "One." }),
      parent(
        { text: "Let me see.", toolCalls: [delegate("Do one")] },
        { text: "I wait for it." },
        { text: "The rest of it", finish: "length" },
      ),
    ], { yolo: true });
    const { code, stdout, stderr } = await p.runMm(["-p", "Go"]);
    assert.equal(code, 4);
    assert.equal(stdout, "Let me see.\nThe rest of it\n");
    assert.match(stderr, /^I wait for it\.$/mu);
    assert.match(stderr, /✓ general-purpose \(task-\w+\) ended: A task/u);
  }));

test("-p: what /fork says itself is no part of the answer", () =>
  withProject(async (p) => {
    const server = await oneAgent(
      p,
      inOrder(
        { text: "Hello." },
        { text: "Looked." },
        { text: "It was looked at." },
      ),
      QUIET,
    );
    assert.equal((await p.runMm(["-p", "Hi"])).code, 0);
    const { code, stdout, stderr } = await p.runMm(["-continue", "-p", "/fork Look"]);
    assert.deepEqual([code, stdout], [0, "It was looked at.\n"], stderr);
    assert.match(stderr, /^task-\w+ is at work on it in the background, see \/tasks\.$/mu);
    assert.equal(server.requests.length, 3);
  }));

test("-p: Ctrl-C while it waits stops the subagents, with the status of a cancel", () =>
  withProject(async (p) => {
    await oneAgent(p, [
      forSubagent(() => ({ hang: true })),
      parent({ toolCalls: [delegate("Do it")] }, { text: "Started." }),
    ], { yolo: true });
    const mm = p.mm(["-p", "Go"]);
    await mm.waitForOutput("Waiting for 1 subagent");
    mm.signalGroup("SIGINT");
    assert.deepEqual(await mm.exit, { code: 130, signal: null });
    assert.equal(mm.stdout, "Started.\n");
  }));
