import assert from "node:assert/strict";
import { test } from "node:test";
import { DELEGATION } from "../config/testing.ts";
import { type DefinitionSetting, grantedToolsText } from "./granted_tools.ts";

const BOB = { name: "bob", path: "/bob.yaml" };

function granted(
  fields: Partial<Parameters<typeof grantedToolsText>[0]>,
  config: Partial<DefinitionSetting["config"]> = {},
  depth = 0,
): string {
  return grantedToolsText({ withoutTools: [], ...fields }, {
    config: { agents: [], delegation: DELEGATION, ...config },
    depth,
  });
}

test("without lists it is all that subagents have, ask_agent only where there is somebody", () => {
  const own = "bash, read, write, edit, glob, grep, ls, fetch";
  assert.equal(granted({}), `${own}, agent, mcp__*`);
  assert.equal(granted({}, { agents: [BOB] }), `${own}, ask_agent, agent, mcp__*`);
  assert.equal(granted({}, {}, 1), `${own}, mcp__*`);
});

test("what the configuration lacks is named as not there", () => {
  assert.equal(
    granted({ tools: ["read", "bash", "mcp__git__*", "todo"] }, { tools: ["read", "agent"] }),
    "read (not here: bash, mcp__git__*)",
  );
  assert.equal(granted({ tools: ["bash"] }, { tools: ["read"] }), "none (not here: bash)");
  assert.equal(granted({ tools: [] }), "none");
});

test("what a definition takes away itself is not named, but for patterns", () => {
  assert.equal(
    granted({ tools: ["read", "bash", "mcp__*"], withoutTools: ["bash", "mcp__git__*"] }),
    "read, mcp__* but mcp__git__*",
  );
});
