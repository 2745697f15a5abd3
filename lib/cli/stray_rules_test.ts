import assert from "node:assert/strict";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { DELEGATION } from "../config/testing.ts";
import { UNGATED_TOOLS } from "../config/tool_names.ts";
import type { AgentConfig, AgentEntry, PermissionRules } from "../config/types.ts";
import { builtinTools } from "../tools/builtin_tools.ts";
import { strayRules } from "./stray_rules.ts";

const BOB: AgentEntry = { name: "bob", path: "/c/bob.yaml" };
const CODEX: AgentEntry = { name: "codex", command: ["codex-acp"] };

/** What is said of rules where a definition "reviewer" lies. */
async function said(
  permissions: Partial<PermissionRules>,
  agents: readonly AgentEntry[] = [BOB, CODEX],
): Promise<string[]> {
  const cwd = await realpath(await mkdtemp(join(tmpdir(), "mm-rules-")));
  try {
    await mkdir(join(cwd, ".mm/agents"), { recursive: true });
    await writeFile(
      join(cwd, ".mm/agents/r.md"),
      "---\nname: reviewer\ndescription: d\n---\nReview it.\n",
    );
    const config = {
      permissions: { allow: [], ask: [], deny: [], ...permissions },
      agents,
      delegation: DELEGATION,
    } as Pick<AgentConfig, "permissions" | "agents" | "delegation"> as AgentConfig;
    return await strayRules({ config, cwd, env: { HOME: join(cwd, "home") } });
  } finally {
    await rm(cwd, { recursive: true });
  }
}

const FAULTS: readonly (readonly [string, RegExp])[] = [
  ["agent(nosuch)", /is about the subagent "nosuch", which is not in mmConfigs, and no/u],
  ["agent(reviewr)", /no subagent here has that name; did you mean "reviewer"\?$/u],
  ["reviewr/bash", /is about the agent "reviewr", .*; did you mean "reviewer"\?$/u],
  ["reviewer/bahs", /is about the tool "bahs", which there is not; did you mean "bash"\?$/u],
  ["fork/nosuch", /is about the tool "nosuch", which there is not$/u],
  ["explore/raed(x)", /is about the tool "raed", .*; did you mean "read"\?$/u],
  ["bob/bsh", /is about the tool "bsh", .*; did you mean "bash"\?$/u],
  [
    "bob/read(x)",
    /holds nothing: bob asks nobody before read; write the rule into permissions\.deny of "\/c\/bob\.yaml", without the agent/u,
  ],
  [
    "reviewer/explore/read",
    /holds nothing: a subagent of a subagent asks nobody before read; write "explore\/read"$/u,
  ],
];

for (const [rule, words] of FAULTS) {
  test(`strayRules() names the rule ${rule}`, async () => {
    const [text = "", ...more] = await said({ deny: ["bash", rule] });
    assert.ok(text.startsWith('The rule "permissions.deny[1]" '), text);
    assert.match(text, words);
    assert.deepEqual(more, []);
  });
}

test("strayRules() says nothing of rules that can match", async () => {
  const rules = [
    "agent",
    "agent(reviewer)",
    "agent(EXPLORE)",
    "agent(fork)",
    "agent(bob)",
    "agent(rev*)",
    "Reviewer/bash",
    "reviewer/read",
    "reviewer/Read",
    "reviewer/mcp__git__log",
    "reviewer/b*",
    "reviewer/explore/bash",
    "fork/edit(src/*)",
    "bob/bash",
    "bob/*",
    "bob/riker/exec",
    "codex/execute",
    "codex/read",
    "*/exec",
    "*/read",
  ];
  assert.deepEqual(await said({ deny: rules, ask: rules }), []);
  assert.deepEqual(await said({ allow: ["bob/read", "reviewer/read"] }), []);
});

test("strayRules() takes a tool as it is written where a rule permits, and looks at patterns of agents where all are mm's", async () => {
  const [allow, ...none] = await said({ allow: ["reviewer/Bash"] });
  assert.match(allow ?? "", /"permissions\.allow\[0\]" is about the tool "Bash", .*"bash"/u);
  assert.deepEqual(none, []);
  const [star] = await said({ deny: ["*/bahs"] }, [BOB]);
  assert.match(star ?? "", /is about the tool "bahs", which there is not; did you mean "bash"/u);
});

test("the tools that need no leave are known without loading any", () => {
  for (const { name, gated } of builtinTools()) assert.equal(UNGATED_TOOLS.has(name), !gated, name);
});
