import assert from "node:assert/strict";
import { test } from "node:test";
import { DELEGATION, NO_HOOKS } from "../config/testing.ts";
import { TOOL_NAMES } from "../config/tool_names.ts";
import type { AgentConfig } from "../config/types.ts";
import { selectTools } from "../tools/tool_names.ts";
import { applyDefinition, forkConfig, SUBAGENT_RULES } from "./apply_definition.ts";
import { BUILTIN_DEFINITIONS } from "./builtin_definitions.ts";
import type { AgentDefinition } from "./definition.ts";
import { NOT_FOR_SUBAGENTS } from "./subagent_tools.ts";

const CONFIG: AgentConfig = {
  file: "/p/agent.yaml",
  model: { provider: "ollama", model: "large", contextWindow: 8000, images: true, temperature: 0 },
  system: "You are ada.",
  yolo: true,
  permissions: { allow: ["bash"], ask: [], deny: ["edit"] },
  maxOutput: 20_000,
  bashTimeoutMs: 30_000,
  bashTimeoutMaxMs: 600_000,
  watchdogTimeoutMs: 300_000,
  agentsMd: { enabled: true, path: "AGENTS.md", maxChars: 0 },
  sessions: { enabled: true, keep: 200 },
  compaction: { enabled: true, threshold: 0.8, keep: 0.2 },
  structuredOutput: { schema: { type: "object" } },
  agents: [],
  delegation: DELEGATION,
  hooks: NO_HOOKS,
  mcpServers: [],
  title: "Ada",
};

const DEFINITION: AgentDefinition = {
  name: "some",
  description: "d",
  source: { kind: "builtin" },
  prompt: "You are some.",
  withoutTools: [],
  notes: [],
  version: "1",
};

/** Names of tools that two MCP servers have. */
const SERVER_TOOLS = [
  "mcp__git__log",
  "mcp__git__push",
  "mcp__git__search",
  "mcp__web__search",
  "mcp__web__get",
];

const EVERY = [...TOOL_NAMES, ...SERVER_TOOLS];

function apply(
  definition: Partial<AgentDefinition>,
  config: Partial<AgentConfig> = {},
  depth = 1,
): AgentConfig {
  return applyDefinition({ ...CONFIG, ...config }, { ...DEFINITION, ...definition }, { depth });
}

function toolsOf(...options: Parameters<typeof apply>): string[] {
  return EVERY.filter(selectTools(apply(...options).tools).has);
}

test("a subagent has its own prompt with the rules for subagents, its title, and no output format", () => {
  const config = apply({});
  assert.equal(config.system, `You are some.\n\n${SUBAGENT_RULES}`);
  assert.equal(config.title, "some");
  assert.equal(config.structuredOutput, undefined);
  assert.ok(!("structuredOutput" in config));
  assert.ok(SUBAGENT_RULES.length < 700);
});

test("all else of the configuration stays, permissions included, which know whose they are", () => {
  const { system: _, title: __, tools: ___, ...rest } = apply({});
  const { system: ____, title: _____, structuredOutput: ______, ...wanted } = CONFIG;
  const permissions = { ...CONFIG.permissions, subagent: "some" };
  assert.deepEqual(rest, { ...wanted, permissions });
});

test("a subagent has all tools but those that no subagent has", () => {
  assert.deepEqual(toolsOf({}), EVERY.filter((name) => !NOT_FOR_SUBAGENTS.has(name)));
  for (
    const name of ["ask_user", "todo", "list_agents", "send_message", "wait_agent", "task_stop"]
  ) {
    assert.ok(!toolsOf({ tools: TOOL_NAMES }, { tools: TOOL_NAMES }).includes(name), name);
  }
});

test("a subagent has agent only where the depth allows another one", () => {
  const delegation = (maxDepth: number) => ({ delegation: { ...DELEGATION, maxDepth } });
  assert.ok(toolsOf({}, delegation(2), 1).includes("agent"));
  assert.ok(!toolsOf({}, delegation(2), 2).includes("agent"));
  assert.ok(!toolsOf({}, delegation(1), 1).includes("agent"));
  assert.ok(!toolsOf({ tools: ["agent"] }, delegation(1), 1).includes("agent"));
});

test("the tools are those that both the configuration and the definition have", () => {
  const cases: [string[] | undefined, string[] | undefined, string[]][] = [
    [["read", "bash"], undefined, ["read", "bash"]],
    [undefined, ["read", "bash"], ["read", "bash"].toReversed()],
    [["read", "bash"], ["bash", "grep"], ["bash"]],
    [["read"], ["bash"], []],
    [[], undefined, []],
    [undefined, [], []],
    [["mcp__git__*"], ["mcp__git__log", "mcp__web__get"], ["mcp__git__log"]],
    [["mcp__git__log"], ["mcp__*"], ["mcp__git__log"]],
    [["mcp__*"], ["mcp__web__*"], ["mcp__web__search", "mcp__web__get"]],
    [["mcp__git__*"], ["mcp__*__search"], ["mcp__git__search"]],
    [["mcp__git__*"], ["mcp__web__*"], []],
    [["read"], ["mcp__git__*"], []],
  ];
  for (const [configured, wanted, expected] of cases) {
    const found = toolsOf(
      wanted === undefined ? {} : { tools: wanted },
      configured === undefined ? {} : { tools: configured },
    );
    assert.deepEqual(found.sort(), expected.sort(), `${configured} and ${wanted}`);
  }
});

test("what a definition takes away is gone, whatever else it has", () => {
  assert.deepEqual(toolsOf({ tools: ["read", "bash"], withoutTools: ["bash"] }), ["read"]);
  assert.deepEqual(
    toolsOf({ tools: ["mcp__*"], withoutTools: ["mcp__git__*", "mcp__web__get"] }),
    ["mcp__web__search"],
  );
  assert.deepEqual(toolsOf({ tools: ["mcp__git__log"], withoutTools: ["mcp__git__*"] }), []);
  assert.deepEqual(toolsOf({ withoutTools: ["*"] }), []);
  assert.ok(!toolsOf({ withoutTools: ["mcp__*"] }).some((name) => name.startsWith("mcp__")));
});

test("no pair of lists gives a tool that one of them has not", () => {
  const lists = [
    undefined,
    [],
    ["read", "mcp__git__*"],
    ["mcp__*__search", "bash"],
    ["mcp__*"],
    ["mcp__g*__*h", "mcp__web__*"],
    ["mcp__*t__*", "edit"],
  ];
  for (const configured of lists) {
    for (const wanted of lists) {
      for (const without of lists) {
        const both = EVERY.filter((name) =>
          selectTools(configured).has(name) && selectTools(wanted).has(name) &&
          !selectTools(without ?? []).has(name) && !NOT_FOR_SUBAGENTS.has(name)
        );
        const found = toolsOf(
          { ...(wanted === undefined ? {} : { tools: wanted }), withoutTools: without ?? [] },
          configured === undefined ? {} : { tools: configured },
        );
        assert.deepEqual(found, both, `${configured}; ${wanted}; ${without}`);
      }
    }
  }
});

test("a model of its own takes the place of the configured one, without what is said of that", () => {
  assert.deepEqual(apply({ model: "small" }).model, {
    provider: "ollama",
    model: "small",
    temperature: 0,
  });
  assert.deepEqual(apply({ model: "large" }).model, CONFIG.model);
  assert.deepEqual(apply({}).model, CONFIG.model);
});

test("of two limits of turns the smaller one holds", () => {
  assert.equal(apply({}).maxTurns, undefined);
  assert.equal(apply({ maxTurns: 5 }).maxTurns, 5);
  assert.equal(apply({ maxTurns: 50 }, { maxTurns: 7 }).maxTurns, 7);
  assert.equal(apply({ maxTurns: 5 }, { maxTurns: 7 }).maxTurns, 5);
});

test("a fork has the configuration as it is, without an output format", () => {
  const { structuredOutput: _, ...rest } = CONFIG;
  const permissions = { ...CONFIG.permissions, subagent: "fork" };
  assert.deepEqual(forkConfig(CONFIG), { ...rest, permissions });
});

test("explore looks and changes nothing; general-purpose has what the configuration has", () => {
  const [general, explore] = BUILTIN_DEFINITIONS;
  assert.ok(general !== undefined && explore !== undefined);
  assert.deepEqual(toolsOf(explore), ["read", "glob", "grep", "ls"]);
  assert.deepEqual(toolsOf(explore, { tools: ["read", "bash"] }), ["read"]);
  assert.deepEqual(toolsOf(general, { tools: ["read", "bash"] }), ["bash", "read"]);
});
