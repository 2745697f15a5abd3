/** What the tool `agent` tells its model, and what becomes of calls that cannot be carried out. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type AgentStage, withStage } from "./support/agent_stage.ts";
import { delegate, type Keys } from "./support/agents.ts";
import { onUser, type RecordedRequest, type Rule } from "./support/model_server.ts";

/** Tokens that the whole family takes in every request, at 3.5 characters each. */
const BUDGET = 900;

const FAMILY = ["agent", "list_agents", "send_message", "wait_agent", "task_stop"];

/** A definition as a file. */
function definition(name: string, description: string, text = `You are the ${name}.`) {
  return `---\nname: ${name}\ndescription: ${description}\n---\n${text}\n`;
}

/** The declaration of a tool in a request. */
function declared(request: RecordedRequest | undefined, name: string) {
  return request?.body.tools?.find((tool) => tool.function.name === name)?.function;
}

/** The arguments that `agent` is declared with. */
function argumentsOf(request: RecordedRequest | undefined): string[] {
  const agent = declared(request, "agent") as unknown as {
    readonly parameters: { readonly properties: object };
  };
  return Object.keys(agent.parameters.properties);
}

/** Runs `body` with an agent whose project has these files. */
function withFiles(
  files: Readonly<Record<string, string>>,
  rules: readonly Rule[],
  body: (stage: AgentStage) => Promise<void>,
  keys: Keys = {},
): Promise<void> {
  return withStage(rules, body, keys, files);
}

test("the tool names the definitions of all folders, within its budget of tokens", () =>
  withFiles(
    {
      ".mm/agents/reviewer.md": definition("code-reviewer", "Reviews changes for bugs and tests"),
      ".qwen/agents/tester.md": definition("test-engineer", "Runs the tests and reads failures"),
      ".claude/agents/writer.md": definition("doc-writer", "Writes the documentation"),
    },
    [],
    async ({ editor, session, server }) => {
      await editor.prompt(session, "Hello");
      const [request] = server.requests;
      assert.deepEqual(
        declared(request, "agent")?.description?.split("\n").slice(1),
        [
          "subagent_type (default general-purpose):",
          "- code-reviewer: Reviews changes for bugs and tests",
          "- doc-writer: Writes the documentation",
          "- explore: Searches and reads the project to answer a question; changes nothing",
          "- general-purpose: Does a task of several steps on its own, with all tools",
          "- test-engineer: Runs the tests and reads failures",
          "- fork: a copy of you that knows this conversation",
        ],
      );
      const family = (request?.body.tools ?? []).filter(({ function: { name } }) =>
        FAMILY.includes(name)
      );
      assert.deepEqual(family.map((tool) => tool.function.name), FAMILY);
      const tokens = JSON.stringify(family).length / 3.5;
      assert.ok(tokens < BUDGET, `${tokens} tokens`);
    },
  ));

test("without files there are mm's own subagents, also where a folder cannot be read", () =>
  withFiles(
    {
      ".mm/agents": "no folder",
      ".claude/agents/broken.md": "---\nname: broken\n: [\n---\nYou are broken beyond repair.\n",
    },
    [onUser("Find it", { text: "Found." })],
    async (stage) => {
      const [result] = await stage.call(delegate("Find it", { run_in_background: false }));
      assert.equal(result, "Found.");
      // Who wrote them is told, whoever calls them.
      const said = stage.editor.text(stage.session);
      assert.match(said, /no-such-folder" of agents\.paths does not exist\n/u);
      assert.match(said, /broken\.md" has front matter that is not valid YAML: line 4: /u);
      assert.deepEqual(
        declared(stage.own[0], "agent")?.description?.match(/^- [\w-]+/gmu),
        ["- explore", "- general-purpose", "- fork"],
      );
    },
    { agents: { paths: ["no-such-folder"] } },
  ));

test("a project's file in place of a built-in subagent is told when a session begins", () =>
  withFiles(
    { ".mm/agents/explore.md": definition("Explore", "Looks", "You look at things as told.") },
    [],
    async (stage) => {
      await stage.call(delegate("Look", { subagent_type: "nobody" }));
      assert.match(
        stage.editor.text(stage.session),
        /The project's file ".*\.mm\/agents\/explore\.md" takes the place of the built-in explore\n/u,
      );
    },
  ));

test("a definition that is written during the session can be used at once, and changes no request before", () =>
  withStage([onUser("Review", { text: "Fine." })], async (stage) => {
    const args = { subagent_type: "Late-Reviewer", run_in_background: false };
    const [before = ""] = await stage.call(delegate("Review", args));
    assert.match(before, /^Not started: There is no subagent "Late-Reviewer"/u);
    await stage.p.write(
      ".mm/agents/late.md",
      definition("late-reviewer", "Reviews", "You review what comes late."),
    );
    const [after] = await stage.call(delegate("Review", args));
    assert.equal(after, "Fine.");
    assert.match(stage.theirs[0]?.system ?? "", /^You review what comes late\.\n/u);
    const tools = new Set(stage.own.map((request) => JSON.stringify(request.body.tools)));
    assert.equal(tools.size, 1);
    assert.doesNotMatch([...tools][0] ?? "", /late-reviewer/u);
  }));

test("an unknown type starts nothing and is told the names there are", () =>
  withStage([], async (stage) => {
    const [typo, far] = await stage.call(
      delegate("Look", { subagent_type: "exlpore" }),
      delegate("Look", { subagent_type: "../../etc/passwd" }),
    );
    assert.equal(
      typo,
      'Not started: There is no subagent "exlpore"; the names are explore, general-purpose, fork; ' +
        'did you mean "explore"?',
    );
    assert.match(
      far ?? "",
      /^Not started: There is no subagent .*; the names are explore, general/u,
    );
    assert.deepEqual(stage.theirs, []);
  }));

test("calls with wrong arguments start nothing, and each is told what is wrong", () =>
  withStage([], async (stage) => {
    const fork = { subagent_type: "fork" };
    const results = await stage.call(
      delegate(" "),
      delegate("Look", { description: "" }),
      delegate("Look", { subagent_type: "" }),
      delegate("Look", { ...fork, fork_turns: 3 }),
      delegate("Look", { ...fork, fork_tools: ["*"] }),
      delegate("Look", { ...fork, fork_profile: "none-such" }),
      delegate("Look", { agent_type: "explore" }),
      delegate("Look", { isolation: "worktree" }),
    );
    const words = [
      /"prompt": is blank/u,
      /"description": is blank/u,
      /"subagent_type" is no name/u,
      /fork_turns is the number 3; write "all"/u,
      /fork_tools\[0\] is "\*"/u,
      /^Not started: .*none-such/u,
      /"agent_type" is not an argument.*The arguments are description, prompt,/u,
      /"isolation": needs a subagent_type by name/u,
    ];
    for (const [at, word] of words.entries()) assert.match(results[at] ?? "", word);
    assert.deepEqual(stage.theirs, []);
  }));

test("what is off in the configuration is not declared, and not carried out either", () =>
  withStage([onUser("Look", { text: "Seen." })], async (stage) => {
    const results = await stage.call(
      delegate("Look", { run_in_background: true }),
      delegate("Look", { subagent_type: "fork" }),
      delegate("Look", { subagent_type: "explore", isolation: "worktree" }),
      { name: "list_agents", arguments: {} },
      delegate("Look", { run_in_background: "false" }),
    );
    assert.match(results[0] ?? "", /nothing runs in the background here/u);
    assert.match(results[1] ?? "", /^Not started: there are no forks here/u);
    assert.match(results[2] ?? "", /"isolation" is not an argument/u);
    assert.match(results[3] ?? "", /list_agents/u);
    assert.equal(results[4], "Seen.");
    assert.deepEqual(argumentsOf(stage.own[0]), ["description", "prompt", "subagent_type"]);
    assert.deepEqual(stage.own[0]?.toolNames.filter((name) => FAMILY.includes(name)), ["agent"]);
    assert.equal(stage.theirs.length, 1);
  }, { agents: { background: "never", forks: false, worktree: { enabled: false } } }));
