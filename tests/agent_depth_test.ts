/** How deep a chain of subagents may be: the tool is not there at its end, and a call of it is refused. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { runCalls, withStage } from "./support/agent_stage.ts";
import { bash, delegate } from "./support/agents.ts";
import { always, onTool, onUser, type RecordedRequest } from "./support/model_server.ts";

/** Each level delegates to the next, and reports what it was told. */
const levels = [
  onUser("Level 1", {
    toolCalls: [
      delegate("A copy", { subagent_type: "fork" }),
      delegate("Level 2", { run_in_background: true }),
      delegate("Level 2"),
    ],
  }),
  onUser("Level 2", { toolCalls: [delegate("Level 3")] }),
  onTool("", ({ last }) => ({ text: `Told: ${last.text}` })),
  always({ text: "Too deep." }),
];

/** The first request of a level. */
function level(requests: readonly RecordedRequest[], number: number): RecordedRequest | undefined {
  return requests.find(({ last }) => last.text === `Level ${number}`);
}

test("the last level of a chain has no tool agent, and a call of it all the same is refused", () =>
  withStage(levels, async (stage) => {
    const [answer = ""] = await stage.call(delegate("Level 1", { run_in_background: false }));
    const [first, second] = [level(stage.theirs, 1), level(stage.theirs, 2)];
    assert.ok(stage.own[0]?.toolNames.includes("agent"));
    assert.ok(first !== undefined && first.toolNames.includes("agent"));
    assert.ok(second !== undefined && !second.toolNames.includes("agent"));
    const about = ["list_agents", "send_message", "wait_agent", "task_stop", "todo", "ask_user"];
    for (const request of [first, second]) {
      assert.deepEqual(request.toolNames.filter((name) => about.includes(name)), []);
    }
    assert.equal(level(stage.theirs, 3), undefined);
    assert.match(answer, /^Told: Told: .*a chain of subagents ends after 2 \(agents\.maxDepth\)/u);
    const told = stage.theirs.findLast(({ last }) => last.text.startsWith("Told: "));
    const results = told?.messages.filter(({ role }) => role === "tool").map((one) => one.content);
    assert.match(String(results?.[0]), /no forks here|fork_turns|fork/u);
    assert.match(String(results?.[1]), /"run_in_background": nothing runs in the background here/u);
    assert.equal(results?.length, 3);
  }));

test("a subagent whose definition leaves agent out is told that it has no such tool, not of the depth", () =>
  withStage([
    onUser("Look", { toolCalls: [delegate("More")] }),
    onTool("", ({ last }) => ({ text: `Told: ${last.text}` })),
  ], async (stage) => {
    const call = delegate("Look", { subagent_type: "explore", run_in_background: false });
    const [answer = ""] = await stage.call(call);
    assert.match(answer, /^Told: There is no tool "agent", only /u);
  }));

for (const [maxDepth, words] of [[1, "ends after 1"], [0, "agents.maxDepth is 0"]] as const) {
  test(`with agents.maxDepth ${maxDepth} the chain ends ${maxDepth === 0 ? "before it begins" : "after one"}`, () =>
    withStage(levels, async (stage) => {
      const [answer = ""] = await stage.call(
        delegate("Level 1", { run_in_background: false }),
      );
      assert.equal(stage.own[0]?.toolNames.includes("agent"), maxDepth > 0);
      assert.ok(answer.includes(words), answer);
      assert.equal(level(stage.theirs, 1)?.toolNames.includes("agent") ?? false, false);
      assert.equal(level(stage.theirs, 2), undefined);
    }, { agents: { maxDepth } }));
}

test("an approval that was waited for changes nothing about the depth", () =>
  withStage([
    onUser("Begin", { toolCalls: [bash("touch approved")] }),
    onTool("exit status 0", { toolCalls: [delegate("Level 2")] }),
    ...levels,
  ], async (stage) => {
    const { editor } = stage;
    const starting = stage.start("Begin");
    (await editor.waitForPermission()).choose("allow_once");
    const id = await starting;
    // It waits between prompts, too, until somebody answers.
    for (let listed = ""; !listed.includes(`${id} | general-purpose | parked |`);) {
      [listed = ""] = await stage.call(runCalls.list());
    }
    const waiting = stage.finish();
    for (const title of [/^general-purpose\/bash/u, /^general-purpose\/agent/u]) {
      const question = await editor.waitForPermission();
      assert.match(question.toolCall.title, title);
      question.choose("allow_once");
    }
    const [end] = await waiting;
    assert.ok(stage.p.exists("approved"));
    assert.match(end?.result ?? "", /^Told: Told: .*a chain of subagents ends after 2/u);
    assert.equal(level(stage.theirs, 2)?.toolNames.includes("agent"), false);
    assert.equal(level(stage.theirs, 3), undefined);
    assert.equal(editor.permissions.length, 3);
  }, { yolo: false }));
