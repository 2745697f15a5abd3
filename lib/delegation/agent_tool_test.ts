import assert from "node:assert/strict";
import { test } from "node:test";
import type { Tool, ToolContext } from "../tools/tool.ts";
import type { AgentArguments } from "./agent_arguments.ts";
import { agentTool, type AgentToolOptions } from "./agent_tool.ts";
import { BUILTIN_DEFINITIONS } from "./builtin_definitions.ts";
import type { AgentDefinition } from "./definition.ts";
import { type RunActions, runTools } from "./run_tools.ts";

/** Tokens of the whole family that every request carries. */
const BUDGET = 900;

/** Characters of a token, at the least: English text and JSON. */
const TOKEN = 3.5;

const nothing = () => Promise.reject(new Error("Nothing runs here"));
const ACTIONS: RunActions = { list: nothing, send: nothing, wait: nothing, stop: nothing };

function definition(name: string, description: string): AgentDefinition {
  return {
    name,
    description,
    source: { kind: "builtin" },
    prompt: "You do things.",
    withoutTools: [],
    notes: [],
    version: "1",
  };
}

const REVIEWER = definition("code-reviewer", "Reviews changes for bugs, style and missing tests");

function toolOf(options: Partial<AgentToolOptions> = {}): Tool {
  return agentTool({
    offer: { background: true, forks: true, worktrees: true },
    backgroundByDefault: true,
    headless: false,
    definitions: [...BUILTIN_DEFINITIONS, REVIEWER],
    launch: nothing,
    ...options,
  });
}

/** A tool as a request declares it. */
const declared = ({ name, description, parameters }: Tool) =>
  JSON.stringify({ type: "function", function: { name, description, parameters } });

test("the tools of delegation take fewer tokens than their budget, with three definitions", () => {
  const family = [toolOf(), ...runTools(ACTIONS)];
  assert.equal(family.length, 5);
  const tokens = family.map(declared).join(",").length / TOKEN;
  assert.ok(tokens < BUDGET, `${tokens} tokens`);
});

test("the preview says whether the run is waited for or in the background", async () => {
  const slow = { ...definition("slow", "d"), background: true };
  const note = async (args: object, options: Partial<AgentToolOptions> = {}) => {
    const tool = toolOf({ definitions: [slow, REVIEWER], ...options });
    const parsed = tool.parse({ description: "d", prompt: "p", ...args });
    assert.ok("input" in parsed, JSON.stringify(parsed));
    return (await tool.preview(parsed.input, { cwd: "/" } as Parameters<Tool["preview"]>[1])).note;
  };
  const waits = { backgroundByDefault: false };
  assert.equal(await note({}), "in the background");
  assert.equal(await note({}, waits), "waited for");
  assert.equal(await note({ run_in_background: false }), "waited for");
  assert.equal(await note({ run_in_background: true }, waits), "in the background");
  assert.equal(await note({ subagent_type: "SLOW" }, waits), "in the background");
  assert.equal(await note({ subagent_type: "code-reviewer", working_dir: "/w" }), "waited for");
  const forked = { subagent_type: "fork", run_in_background: false };
  assert.equal(await note(forked), "waited for");
  assert.equal(await note(forked, { headless: true }), "in the background");
  const none = { offer: { background: false, forks: true, worktrees: true } };
  assert.equal(await note({}, none), undefined);
});

test("the description names each definition with one line, and the fork", () => {
  const { description } = toolOf({
    definitions: [definition("reviewer", `Reviews\n\n  code ${"x".repeat(500)}`), REVIEWER],
  });
  const [, types = ""] = description.split("subagent_type (default general-purpose):\n");
  const lines = types.split("\n");
  assert.equal(lines.length, 3);
  assert.match(lines[0] ?? "", /^- reviewer: Reviews code x+…$/u);
  assert.ok((lines[0]?.length ?? 0) < 180);
  assert.equal(lines[1], "- code-reviewer: Reviews changes for bugs, style and missing tests");
  assert.equal(lines[2], "- fork: a copy of you that knows this conversation");
});

test("a long list of definitions is cut, so that it stays within every request", () => {
  const definitions = Array.from({ length: 60 }, (_, at) => definition(`agent-${at}`, "Helps"));
  const { description } = toolOf({ definitions });
  assert.equal(description.match(/^- agent-\d+: Helps$/gmu)?.length, 20);
});

test("without any definition the tool is whole all the same", () => {
  const { description } = toolOf({ definitions: [] });
  assert.match(description, /:\n- fork: a copy/u);
  const without = toolOf({
    definitions: [],
    offer: { background: true, forks: false, worktrees: true },
  });
  assert.match(without.description, /subagent_type \(default general-purpose\)$/u);
});

test("what is off is neither declared nor described", () => {
  const names = (tool: Tool) => Object.keys(tool.parameters["properties"] as object);
  const off = toolOf({ offer: { background: false, forks: false, worktrees: false } });
  assert.deepEqual(names(off), ["description", "prompt", "subagent_type"]);
  assert.doesNotMatch(
    declared(off),
    /fork|background|notification|isolation|worktree|working_dir/u,
  );
  const forks = toolOf({ offer: { background: false, forks: true, worktrees: false } });
  assert.deepEqual(
    names(forks).filter((name) => !names(off).includes(name)),
    ["fork_turns", "fork_tools", "fork_profile"],
  );
  const background = toolOf({ offer: { background: true, forks: false, worktrees: false } });
  assert.deepEqual(
    names(background).filter((name) => !names(off).includes(name)),
    ["run_in_background"],
  );
  const worktrees = toolOf({ offer: { background: false, forks: false, worktrees: true } });
  assert.deepEqual(
    names(worktrees).filter((name) => !names(off).includes(name)),
    ["isolation", "working_dir"],
  );
});

test("no argument of teammates, todos or models is declared", () => {
  const { parameters } = toolOf();
  const names = Object.keys(parameters["properties"] as object);
  for (const name of ["name", "plan_mode_required", "read_only", "todo_id", "model"]) {
    assert.ok(!names.includes(name), name);
  }
  assert.equal(parameters["additionalProperties"], false);
});

test("the description says what runs in the background where the call does not", () => {
  assert.match(toolOf().description, /In the background \(default\)/u);
  assert.match(
    toolOf({ backgroundByDefault: false }).description,
    /In the background \(run_in_background\)/u,
  );
});

test("the call starts what its arguments say, and its title names who works", async () => {
  const started: AgentArguments[] = [];
  const tool = toolOf({
    launch: (args) => {
      started.push(args);
      return Promise.resolve({ ok: true, text: "done" });
    },
  });
  const parsed = tool.parse({ description: "Find\nthe tests", prompt: "Look" });
  assert.ok("input" in parsed);
  const view = { cwd: "/", files: {} as ToolContext["files"] };
  assert.deepEqual(await tool.preview(parsed.input, view), {
    title: "general-purpose: Find the tests",
    note: "in the background",
  });
  const context = { signal: new AbortController().signal, maxOutput: 100 } as ToolContext;
  assert.deepEqual(await tool.run(parsed.input, context), { ok: true, text: "done" });
  assert.deepEqual(started, [{
    description: "Find the tests",
    prompt: "Look",
    subagent_type: "general-purpose",
  }]);
  assert.ok(tool.gated && tool.parallel);
});

test("a description is one short line, and a name has one form, however the model writes them", () => {
  const parsed = toolOf().parse({
    description: `Find\n${"x".repeat(1_000_000)}`,
    prompt: "Look",
    subagent_type: " u\u0308ber\n",
  });
  assert.ok("input" in parsed);
  const { description, subagent_type } = parsed.input as AgentArguments;
  assert.equal(subagent_type, "\u00fcber");
  assert.equal(description.length, 200);
  assert.match(description, /^Find x+…$/u);
});
