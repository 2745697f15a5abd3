/** Hooks around subagents: what they see, what they add, how often they send one back. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { endsIn, runCalls, withStage } from "./support/agent_stage.ts";
import { bash, delegate, type Keys } from "./support/agents.ts";
import { always, inOrder } from "./support/model_server.ts";
import { oneAgent } from "./support/one_agent.ts";
import { type TestProject, withProject } from "./support/project.ts";
import { forSubagent, isSubagent, lastResults, taskIds, taskOf } from "./support/subagents.ts";

const INLINE = { run_in_background: false };

/** A hook that notes what it reads, one line each, and says nothing. */
const notes = (file: string) => ({ run: `cat >> ${file}` });

/** What such a hook has noted. */
async function noted(p: TestProject, file: string): Promise<Keys[]> {
  return (await p.read(file)).trim().split("\n").map((line) => JSON.parse(line));
}

test("a run has one id, in the call that starts it, in its hooks at the start and the end, and in its result", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, [
      forSubagent(always({ text: "It is in a.ts." })),
      inOrder(
        {
          toolCalls: [
            delegate("Find it"),
            delegate("Look", { subagent_type: "explore", ...INLINE }),
          ],
        },
        { toolCalls: [{ name: "wait_agent", arguments: {} }] },
        { text: "Done." },
      ),
    ], {
      yolo: true,
      hooks: { subagentStart: [notes("start")], subagentStop: [notes("stop")] },
      agents: { maxParallel: 1 },
    });
    const { stdout, stderr } = await p.runMm(["-p", "Go"]);
    assert.equal(stdout, "Done.\n", stderr);
    const starts = await noted(p, "start");
    const stops = await noted(p, "stop");
    assert.deepEqual(starts.map((one) => one["agent"]).sort(), ["explore", "general-purpose"]);
    const [id] = taskIds(server.requests.at(-1)!);
    for (const start of starts) {
      const background = start["agent"] === "general-purpose";
      assert.equal(start["background"], background);
      if (background) assert.equal(start["taskId"], id);
      const stop = stops.find((one) => one["taskId"] === start["taskId"]);
      const { hook: _, ...same } = start;
      assert.deepEqual({ ...stop, ...same, hook: "subagentStop" }, stop);
      assert.equal(stop?.["answer"], "It is in a.ts.");
      assert.equal(stop?.["end"], "answered");
      assert.equal(stop?.["stopHookActive"], false);
    }
  }));

test("what a subagentStart hook adds reaches the subagent's model, below its task", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, [
      forSubagent(always({ text: "Seen." })),
      ({ last }) => last.text.includes("Look") ? { text: "Looked." } : undefined,
      inOrder(
        { toolCalls: [delegate("Find it", INLINE)] },
        { toolCalls: [delegate("Look", { subagent_type: "fork" })] },
        { toolCalls: [{ name: "wait_agent", arguments: {} }] },
        { text: "Done." },
      ),
    ], {
      yolo: true,
      hooks: {
        subagentStart: [
          { run: `cat >/dev/null; echo '{"context": "The tests are in test/."}'` },
          { run: 'cat >/dev/null; echo \'{"context": "Be brief."}\'', match: "fork" },
        ],
      },
    });
    const { stderr } = await p.runMm(["-p", "Go"]);
    const told = server.requests.filter(isSubagent).map((request) => request.lastUser);
    const added = "[added by a subagentStart hook]\nThe tests are in test/.";
    assert.deepEqual(told, [`Find it\n\n${added}`], stderr);
    const fork = server.requests.find(({ last }) => last.text.includes("Be brief."));
    assert.ok(fork?.last.text.endsWith(`${added}\n\nBe brief.`), fork?.last.text);
  }));

test("a subagentStart hook that refuses, or does not work, starts nobody and says why", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, [
      forSubagent(always({ text: "Never." })),
      inOrder({
        toolCalls: [
          delegate("Find it", INLINE),
          delegate("Look", { subagent_type: "explore", ...INLINE }),
        ],
      }, { text: "Done." }),
    ], {
      yolo: true,
      hooks: {
        subagentStart: [
          { run: "echo 'not on a Sunday' >&2; exit 2", match: "explore" },
          { run: "exit 7", match: "general-*" },
        ],
      },
    });
    await p.runMm(["-p", "Go"]);
    assert.equal(server.requests.filter(isSubagent).length, 0);
    const [broken, refused] = lastResults(server.requests.at(-1)!);
    assert.match(
      refused ?? "",
      /explore was refused: the subagentStart hook .* refused: not on a Sunday/u,
    );
    assert.match(
      broken ?? "",
      /general-purpose was refused: the subagentStart hook "exit 7" .*status 7/u,
    );
  }));

test("a subagentStop hook sends a subagent back in the same conversation, and is told that it did", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, [
      forSubagent(inOrder({ text: "I think so." }, { text: "The tests pass." })),
      inOrder({ toolCalls: [delegate("Fix it", INLINE)] }, { text: "Done." }),
    ], {
      yolo: true,
      hooks: {
        subagentStop: [
          notes("stop"),
          { run: "grep -q 'tests pass' || { echo 'Run the tests.' >&2; exit 2; }" },
        ],
      },
    });
    const { stdout, stderr } = await p.runMm(["-p", "Go"]);
    assert.equal(stdout, "Done.\n", stderr);
    const [, again] = server.requests.filter(isSubagent);
    assert.deepEqual(again?.messages.slice(1), [
      { role: "user", content: "Fix it" },
      { role: "assistant", content: "I think so." },
      { role: "user", content: "Run the tests." },
    ]);
    assert.deepEqual(
      (await noted(p, "stop")).map((
        one,
      ) => [one["answer"], one["stopHookActive"], one["sentBack"]]),
      [["I think so.", false, 0], ["The tests pass.", true, 1]],
    );
    assert.deepEqual(lastResults(server.requests.at(-1)!), ["The tests pass."]);
  }));

test("a subagentStop hook that does not work keeps no result back; the person is told", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, [
      forSubagent(always({ text: "It is in a.ts." })),
      inOrder({ toolCalls: [delegate("Find it", INLINE)] }, { text: "Done." }),
    ], { yolo: true, hooks: { subagentStop: [{ run: "exit 7" }] } });
    const { stdout, stderr } = await p.runMm(["-p", "Go"]);
    assert.equal(stdout, "Done.\n");
    assert.match(
      stderr,
      /the subagentStop hook "exit 7" .*status 7.*task-[0-9a-f]{6} ends all the same/u,
    );
    assert.deepEqual(lastResults(server.requests.at(-1)!), ["It is in a.ts."]);
  }));

test("a hook that always sends back is heard eight times, and the result says so", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, [
      forSubagent((request) => ({ text: `Answer ${request.messages.length / 2}.` })),
      inOrder({ toolCalls: [delegate("Find it", INLINE)] }, { text: "Done." }),
    ], { yolo: true, hooks: { subagentStop: [{ run: "echo More. >&2; exit 2" }] } });
    const { stdout, stderr } = await p.runMm(["-p", "Go"]);
    assert.equal(stdout, "Done.\n", stderr);
    assert.equal(server.requests.filter(isSubagent).length, 9);
    assert.deepEqual(lastResults(server.requests.at(-1)!), [
      "Answer 9.\n\n[a subagentStop hook wanted more 9 times, which is once more than it may]",
    ]);
  }));

test("a cancel ends the rounds of a hook that always sends back, and what was said stays", () =>
  withStage([
    (request) =>
      request.messages.length < 6
        ? { text: "Not yet." }
        : { text: "Third round", toolCalls: [bash(`touch ${taskOf(request)}; sleep 600`)] },
  ], async (stage) => {
    const { editor, session, p } = stage;
    const turn = editor.prompt(session, stage.plan([delegate("one", INLINE)]));
    await stage.fileIs("one");
    editor.cancel(session);
    assert.equal((await turn).stopReason, "cancelled");
    assert.equal(await p.read("ended"), "x\nx\n");

    const id = await stage.start("two");
    await stage.fileIs("two");
    const [stopped = ""] = await stage.call(runCalls.stop(id));
    assert.deepEqual(endsIn(stopped).map(({ status, result }) => [status, result]), [
      ["cancelled", "Third round\n[general-purpose was cancelled]"],
    ]);
    assert.equal(await p.read("ended"), "x\nx\nx\nx\n");
    assert.equal(stage.theirs.length, 6);
  }, { hooks: { subagentStop: [{ run: "echo x >> ended; echo More. >&2; exit 2" }] } }));

test("the time that a definition allows counts for all rounds together and in no hook, and what was said stays", () =>
  withProject(async (p) => {
    const text = "name: slow\ndescription: Slow\nmaxTime: 4s\n---\nYou take your time.\n";
    await p.write(".mm/agents/slow.md", `---\n${text}`);
    const server = await oneAgent(p, [
      forSubagent(
        inOrder({ text: "Not yet." }, { chunks: ["Now.", " Or"], hang: true, holdAfter: 1 }),
      ),
      inOrder(
        { toolCalls: [delegate("Find it", { subagent_type: "slow", ...INLINE })] },
        { text: "Done." },
      ),
    ], {
      yolo: true,
      hooks: { subagentStop: [{ run: "sleep 5; echo More. >&2; exit 2" }] },
    });
    const { stdout, stderr } = await p.runMm(["-p", "Go"]);
    assert.equal(stdout, "Done.\n", stderr);
    const [result = ""] = lastResults(server.requests.at(-1)!);
    assert.match(
      result,
      /^Now\.\n\[slow failed: it took longer than 4 s, the most its definition/u,
    );
  }));
