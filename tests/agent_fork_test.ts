/** Forks of a conversation: what they know, what they may run, how they go on. */
import assert from "node:assert/strict";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import {
  type AgentStage,
  FROM,
  lastResults,
  ofFork,
  ofSubagent,
  runCalls,
  textsOf,
  withStage,
} from "./support/agent_stage.ts";
import { bash, delegate } from "./support/agents.ts";
import { mcpServer } from "./support/mcp_server.ts";
import { call } from "./support/mcp_stage.ts";
import { always, onTool, onUser, type RecordedRequest } from "./support/model_server.ts";
import { conversationFiles } from "./support/saved_files.ts";

const { list, send, wait } = runCalls;

const fork = (prompt: string, more = {}) => delegate(prompt, { subagent_type: "fork", ...more });

/** What a fork knows of its conversation: the prompts before its task, by their number. */
function known(stage: AgentStage, task: string): string[] {
  const request = stage.theirs.find((r) => r.last.text.endsWith(`Task:\n${task}`));
  return textsOf(request).flatMap((text) => /step \d+\.$/u.exec(text)?.[0] ?? []);
}

test("a fork knows the whole conversation, or as many of the last turns as are asked for", () =>
  withStage([always({ text: "Reported." })], async (stage) => {
    await stage.call(bash("echo one"), bash("echo more"));
    await stage.start("Plain");
    await stage.call(wait());
    const calls = [
      fork("All"),
      fork("One", { fork_turns: "1" }),
      fork("Two", { fork_turns: "2" }),
      fork("Many", { fork_turns: "99" }),
    ];
    for (const one of calls) {
      // A part of the conversation begins with another message than the whole.
      if ("fork_turns" in one.arguments) stage.server.allowNewPrefix(5);
      await stage.call(one);
      await stage.call(wait());
    }
    // Each fork took two prompts; its own is the last it knows.
    assert.deepEqual(known(stage, "All"), ["step 1.", "step 2.", "step 3.", "step 4."]);
    assert.deepEqual(known(stage, "One"), ["step 6."]);
    assert.deepEqual(known(stage, "Two"), ["step 7.", "step 8."]);
    assert.equal(known(stage, "Many").length, 10);
    const heads = stage.theirs.filter(ofFork).map(({ system, toolNames }) => system + toolNames);
    assert.equal(new Set(heads).size, 1);
  }));

test("what is wrong about a fork is refused before anything starts", () =>
  withStage([], async (stage) => {
    await stage.p.write(".mm/fork-profiles/other.md", "---\nname: another\ntools: []\n---\n");
    const results = await stage.call(
      fork("x", { fork_turns: 3 }),
      fork("x", { fork_turns: "0" }),
      fork("x", { fork_tools: ["read_*"] }),
      fork("x", { fork_tools: ["read"], fork_profile: "ro" }),
      fork("x", { fork_profile: "ro" }),
      fork("x", { fork_profile: "other" }),
      fork("x", { fork_profile: "../ro" }),
      delegate("x", { fork_tools: [] }),
    );
    const words = [
      /fork_turns/u,
      /fork_turns/u,
      /fork_tools\[0\].*mcp__/u,
      /fork_profile/u,
      /ro\.md/u,
      /other\.md/u,
      /fork_profile|profile/u,
      /fork_tools.*goes with subagent_type "fork" only/u,
    ];
    for (const [at, text] of results.entries()) assert.match(text, words[at] ?? /never/u);
    assert.equal(stage.theirs.length, 0);
    assert.match((await stage.call(list()))[0] ?? "", /^No subagent was started/u);
  }));

test("a fork is told of all tools and runs those on its list; the others fail before anybody is asked", () =>
  withStage([
    onTool("Task:", {
      toolCalls: [
        bash("touch denied"),
        { name: "ask_user", arguments: { question: "May I?" } },
        delegate("More"),
        { name: "list_agents", arguments: {} },
        { name: "todo", arguments: { todos: [] } },
        call("mcp__t__echo", { text: "in" }),
        call("mcp__t__look"),
        { name: "read", arguments: { path: "note.txt" } },
      ],
    }),
    always({ text: "Reported." }),
  ], async (stage) => {
    await stage.p.write("note.txt", "noted\n");
    stage.editor.onPermission = "allow_once";
    await stage.call(fork("Look", {
      fork_tools: ["read", "ask_user", "agent", "mcp__t__e*"],
    }));
    await stage.finish();
    const [first, second] = stage.theirs;
    assert.deepEqual(first?.toolNames, stage.own[0]?.toolNames);
    for (const name of ["bash", "ask_user", "agent", "send_message", "todo", "mcp__t__look"]) {
      assert.ok(first?.toolNames.includes(name), name);
    }
    const results = lastResults(second);
    const only = /this fork may run only read, ask_user, agent, mcp__t__e\*; go on without/u;
    assert.match(results[0] ?? "", only);
    assert.match(results[1] ?? "", /a fork asks nobody/u);
    assert.match(results[2] ?? "", /a fork starts and leads no agents/u);
    assert.match(results[3] ?? "", /a fork starts and leads no agents/u);
    assert.match(results[4] ?? "", only);
    assert.equal(results[5], "ECHO in");
    assert.match(results[6] ?? "", only);
    assert.match(results[7] ?? "", /noted/u);
    // The call that made the fork, then the only one of its own that was allowed and asks.
    const asked = stage.editor.permissions.map(({ toolCall }) => toolCall.title);
    assert.deepEqual(asked, ["fork: A task", 'fork/mcp__t__echo: echo {"text":"in"}']);
    assert.ok(!stage.p.exists("denied"));
  }, { yolo: false, mcpServers: { t: mcpServer() } }));

test("a fork edits what its conversation has read, unless it changed, and nothing that was not read", () =>
  withStage([
    onTool("Task:", {
      toolCalls: ["read", "changed", "unread"].map((name) => ({
        name: "edit",
        arguments: { path: `${name}.txt`, old_string: "before", new_string: "after" },
      })),
    }),
    always({ text: "Reported." }),
  ], async (stage) => {
    const { p } = stage;
    for (const name of ["read", "changed", "unread"]) await p.write(`${name}.txt`, "before\n");
    const look = (path: string) => ({ name: "read", arguments: { path } });
    await stage.call(look("read.txt"), look("changed.txt"));
    await p.write("changed.txt", "before and more\n");
    await stage.call(fork("Edit"));
    await stage.finish();
    const results = lastResults(stage.theirs[1]);
    assert.match(results[1] ?? "", /it changed on disk since it was last read; read it again/u);
    assert.match(results[2] ?? "", /it exists and was not read in this session; read it first/u);
    assert.equal(await p.read("read.txt"), "after\n", results[0]);
    assert.equal(await p.read("changed.txt"), "before and more\n");
  }));

/** A fork that tries what it may not, whenever it is told something. */
const tries = [
  onTool("refused: ", { text: "Reported." }),
  onTool("Not run", { text: "Reported." }),
  onTool("Task:", { toolCalls: [bash("touch tried")] }),
  onUser(FROM, { toolCalls: [bash("touch tried")] }),
  always({ text: "Ran." }),
];

test("what a fork may run stays as it was when it goes on, also after a restart", () =>
  withStage(tries, async (stage) => {
    const { p } = stage;
    const profile = "---\nname: ro\ntools: [read]\npromptHint: Be <short>\n---\n";
    await p.write(".mm/fork-profiles/ro.md", profile);
    const listed = await stage.start("Look", { subagent_type: "fork", fork_tools: [] });
    const read = await stage.start("See", { subagent_type: "fork", fork_profile: "ro" });
    await stage.finish();
    await p.write(".mm/fork-profiles/ro.md", profile.replace("read", "bash"));
    await stage.finish(send(listed, "again"), send(read, "again"));
    await stage.kill();
    await stage.open();
    const ends = await stage.finish(send(listed, "again"), send(read, "again"));
    assert.deepEqual(ends.map(({ round, result }) => [round, result]), [
      [3, "Reported."],
      [3, "Reported."],
    ]);
    const refused = stage.theirs.flatMap((request) => lastResults(request))
      .filter((text) => text.includes("this fork may run"));
    assert.equal(refused.filter((text) => text.includes("no tools at all")).length, 3);
    assert.equal(refused.filter((text) => text.includes("only read")).length, 3);
    assert.ok(!p.exists("tried"));
    const tasks = stage.theirs.map(({ last }) => last.text);
    assert.ok(tasks.some((text) => text.includes("<advice>Be &lt;short&gt;</advice>")));
    assert.ok(tasks.some((text) => text.includes("you may run no tools at all")));
  }));

test("a fork that was cut off goes on from its copy of the conversation, not from what came later", () =>
  withStage([
    onTool("Task:", { hang: true }),
    onUser(FROM, { text: "Resumed." }),
  ], async (stage) => {
    await stage.call(bash("echo before"));
    const [cut, lost] = [
      await stage.start("Look", { subagent_type: "fork" }),
      await stage.start("See", { subagent_type: "fork" }),
    ];
    for (const task of ["Look", "See"]) await stage.asked(task);
    await stage.call(bash("echo after"));
    await stage.kill();
    for (const { path } of await conversationFiles(stage.p, join(stage.p.stateDir, "subagents"))) {
      if ((await readFile(path, "utf8")).includes("Task:\\nSee")) await rm(path);
    }
    await stage.open();
    const [listed = ""] = await stage.call(list());
    assert.match(listed, new RegExp(`${cut} \\| fork \\| paused \\| takes messages`, "u"));
    assert.match(listed, new RegExp(`${lost} .* resume_blocked_reason: nothing of its con`, "u"));
    const ends = await stage.finish(send(cut, "Go on"), send(lost, "Go on"));
    assert.deepEqual(ends.map(({ id, result }) => [id, result]), [[cut, "Resumed."]]);
    const before = forkRequest(stage, "Look");
    const resumed = stage.theirs.at(-1);
    const texts = textsOf(resumed);
    assert.deepEqual(texts.slice(0, before.messages.length), textsOf(before));
    assert.equal(texts.at(-1), `${FROM}Go on`);
    assert.ok(!texts.some((text) => text.includes("after")));
    assert.deepEqual(resumed?.toolNames, before.toolNames);
  }));

function forkRequest({ server }: AgentStage, task: string): RecordedRequest {
  const found = server.requests.find((r) =>
    ofSubagent(r) && r.last.text.endsWith(`Task:\n${task}`)
  );
  assert.ok(found !== undefined);
  return found;
}
