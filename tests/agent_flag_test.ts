/** `mm -acp -agent <name>`: a process that serves a subagent, as definition and configuration say. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { SUBAGENT_RULES } from "../lib/delegation/apply_definition.ts";
import { bash } from "./support/agents.ts";
import { always, inOrder, type RecordedRequest } from "./support/model_server.ts";
import { type TestProject, withProject } from "./support/project.ts";

/** Serves a subagent, has it answer one prompt, and returns what its model was asked. */
async function requestOf(
  p: TestProject,
  agent: string,
  options: { readonly config?: string; readonly depth?: string } = {},
): Promise<RecordedRequest> {
  const server = await p.model({ reply: always({ text: "Done." }) });
  await p.write(
    "agent.yaml",
    `provider: llamacpp\nbaseUrl: ${server.url}/v1\nmodel: large\n${options.config ?? ""}`,
  );
  const editor = p.editor(["-agent", agent, "-config", "agent.yaml"], {
    env: { MM_ASK_DEPTH: options.depth ?? "1" },
  });
  const session = await editor.start();
  assert.equal((await editor.prompt(session, "go")).stopReason, "end_turn");
  const [request] = server.requests;
  assert.ok(request !== undefined);
  return request;
}

test("explore has the tools that only look, its own prompt and the rules for subagents", () =>
  withProject(async (p) => {
    const { toolNames, system, model } = await requestOf(p, "Explore");
    assert.deepEqual(toolNames, ["read", "glob", "grep", "ls"]);
    assert.ok(system.includes("you change nothing") && system.endsWith(SUBAGENT_RULES), system);
    assert.equal(model, "large");
  }));

test("a file of Claude Code is served with mm's tools, within those of the configuration", () =>
  withProject(async (p) => {
    await p.write(
      ".claude/agents/reviewer.md",
      "---\nname: reviewer\ndescription: Use this: now\ntools: Read, Bash, WebSearch, TodoWrite\n" +
        "permissionMode: bypassPermissions\nmodel: haiku\n---\nYou review ${word}.\n",
    );
    const config = "tools: [read, grep, todo]\nsystem: You are ada.\n";
    const { toolNames, system, model } = await requestOf(p, "reviewer", { config });
    assert.deepEqual(toolNames, ["read"]);
    assert.ok(system.startsWith("You review ${word}.\n\nYou are a subagent"), system);
    assert.equal(model, "large");
  }));

test("a definition names its model, and reads the project's instructions as the configuration says", () =>
  withProject(async (p) => {
    await p.write(
      ".mm/agents/x.md",
      "---\nname: small-one\ndescription: d\nmodel: small\ntools: []\n---\nDo something.\n",
    );
    await p.write("AGENTS.md", "Indent with tabs.\n");
    const { toolNames, system, model } = await requestOf(p, "small-one");
    assert.deepEqual(toolNames, []);
    assert.equal(model, "small");
    assert.match(system, /PROJECT INSTRUCTIONS[^]*Indent with tabs/u);
  }));

test("general-purpose answers without the form that the answers of its configuration have", () =>
  withProject(async (p) => {
    const config = "structuredOutput: {schema: {type: object}}\n";
    const { toolNames, system, body } = await requestOf(p, "general-purpose", { config });
    assert.ok(toolNames.includes("bash"));
    for (const name of ["ask_user", "todo", "list_agents", "send_message", "task_stop"]) {
      assert.ok(!toolNames.includes(name), name);
    }
    assert.ok(!/JSON/u.test(system), system);
    assert.ok(!("response_format" in body));
  }));

test("nothing in a definition lets a command run that nobody permits", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: inOrder({ toolCalls: [bash("echo ran > ran.txt")] }, { text: "Refused." }),
    });
    await p.write(
      "agent.yaml",
      `provider: llamacpp\nbaseUrl: ${server.url}/v1\nmodel: m\nyolo: true\n`,
    );
    await p.write(
      ".qwen/agents/wild.md",
      "---\nname: wild\ndescription: d\napprovalMode: yolo\n---\nDo something.\n",
    );
    const editor = p.editor(["-agent", "wild"], { env: { MM_ASK_DEPTH: "1" } });
    const session = await editor.start();
    editor.onPermission = "reject_once";
    await editor.prompt(session, "go");
    assert.equal(editor.permissions.length, 1);
    assert.ok(!p.exists("ran.txt"));
  }));

test("a name without a usable definition ends mm with status 2 and the reason", () =>
  withProject(async (p) => {
    await p.write("agent.yaml", "provider: demo\n");
    await p.write(
      ".mm/agents/x.md",
      "---\nname: codex\ndescription: d\nexecutor: {kind: acp}\n---\nDo something.\n",
    );
    const nobody = await p.runMm(["-acp", "-agent", "nobody"]);
    assert.equal(nobody.code, 2);
    assert.match(
      nobody.stderr,
      /^mm: There is no subagent "nobody"; the names are explore, general/u,
    );
    const refused = await p.runMm(["-acp", "-agent", "codex"]);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /"executor" is not supported.*mmConfigs with command/u);
    assert.equal(nobody.stdout + refused.stdout, "");
  }));

test("-defaults uses no configuration, also where one would be found", () =>
  withProject(async (p) => {
    await p.write("agent.yaml", "provider: demo\nacp: {title: Ada}\n");
    const options = { env: { AGENT_PROVIDER: "demo" } };
    const found = await p.editor([], options).initialize();
    assert.equal(found.agentInfo.title, "Ada");
    const defaults = await p.editor(["-defaults"], options).initialize();
    assert.equal(defaults.agentInfo.title, "mm");
  }));
