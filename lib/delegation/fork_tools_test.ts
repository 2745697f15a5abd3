import assert from "node:assert/strict";
import { test } from "node:test";
import { allowedWords, forkGate, readForkTools } from "./fork_tools.ts";

/** The gate of a fork with this list. */
function gateOf(list: unknown) {
  const read = readForkTools(list);
  assert.ok("allow" in read, JSON.stringify(read));
  return forkGate(read.allow);
}

test("readForkTools() takes names and patterns of MCP tools, each once", () => {
  const list = ["read", "bash", "mcp__*", "mcp__git", "mcp__git__log", "mcp__git__read_*", "read"];
  assert.deepEqual(readForkTools(list), { allow: list.slice(0, -1) });
  assert.deepEqual(readForkTools([]), { allow: [] });
  assert.deepEqual(readForkTools(["mcp__git__*"]), { allow: ["mcp__git__*"] });
});

test("readForkTools() takes the names of other programs' tools for mm's own", () => {
  assert.deepEqual(
    readForkTools(["read_file", "grep_search", "run_shell_command", "mcp__github"]),
    {
      allow: ["read", "grep", "bash", "mcp__github"],
    },
  );
  assert.deepEqual(readForkTools(["Read", "read_file", "WebFetch"]), { allow: ["read", "fetch"] });
});

test("readForkTools() keeps a name that is like no tool's: it allows nothing", () => {
  const names = ["web_search", "Skill", "LSP", "ask_user", "agent"];
  assert.deepEqual(readForkTools(names), { allow: names });
  const gate = gateOf(["web_search"]);
  assert.match(gate("read") ?? "", /^this fork may run only web_search;/u);
});

const REJECTED: readonly (readonly [unknown, RegExp])[] = [
  [undefined, /^fork_tools is no list;/u],
  ["read", /^fork_tools is no list;/u],
  [{ 0: "read" }, /^fork_tools is no list;/u],
  [null, /^fork_tools is no list;/u],
  [["read", 3], /^fork_tools\[1\] is no text;/u],
  [["read", null], /^fork_tools\[1\] is no text;/u],
  [[""], /^fork_tools\[0\] is empty;/u],
  [["  "], /^fork_tools\[0\] is empty;/u],
  [[" read"], /^fork_tools\[0\] is "read" with white space around it;/u],
  [["read\n"], /^fork_tools\[0\] is "read" with white space around it;/u],
  [["*"], /^fork_tools\[0\] is "\*"; leave the whole list out/u],
  [["bash", "reed"], /^fork_tools\[1\] is "reed", which is no tool; did you mean "read"\?$/u],
  [["Gerp"], /is "Gerp", which is no tool; did you mean "grep"\?$/u],
  [["read_*"], /^fork_tools\[0\] is "read_\*"; "\*" may stand only at the end/u],
  [["re*d"], /may stand only at the end/u],
  [["mcp__git__*log"], /may stand only at the end/u],
  [["mcp__git__**"], /may stand only at the end/u],
  [["mcp__*__log"], /may stand only at the end/u],
  [["mcp__x*"], /may stand only at the end/u],
  [["mcp_*"], /may stand only at the end/u],
  [["*mcp__*"], /may stand only at the end/u],
  [["mcp__a b__*"], /may stand only at the end/u],
];

for (const [list, words] of REJECTED) {
  test(`readForkTools() refuses ${JSON.stringify(list) ?? "nothing"}`, () => {
    const read = readForkTools(list);
    assert.ok("error" in read);
    assert.match(read.error, words);
  });
}

test("forkGate() lets through what is on the list and nothing else", () => {
  const gate = gateOf(["read", "mcp__git", "mcp__web__get_*"]);
  for (const name of ["read", "mcp__git__log", "mcp__git__a__b", "mcp__web__get_page"]) {
    assert.equal(gate(name), undefined, name);
  }
  for (
    const name of [
      "bash",
      "rea",
      "readx",
      "mcp__gith__log",
      "mcp__web__put",
      "mcp__web",
    ]
  ) {
    assert.match(
      gate(name) ?? "",
      /^this fork may run only read, mcp__git, mcp__web__get_\*;/u,
      name,
    );
  }
  const all = gateOf(["mcp__*"]);
  assert.equal(all("mcp__any__thing"), undefined);
  assert.notEqual(all("read"), undefined);
});

test("forkGate() allows nothing with an empty list, and everything without one", () => {
  assert.match(
    gateOf([])("read") ?? "",
    /^this fork may run no tools at all; go on without read, or say what you need in your report/u,
  );
  assert.equal(forkGate(undefined)("bash"), undefined);
});

test("forkGate() never lets a fork ask the user or lead agents, even when that is listed", () => {
  const names = ["ask_user", "agent", "list_agents", "send_message", "wait_agent", "task_stop"];
  for (const gate of [gateOf(names), forkGate(undefined)]) {
    for (const name of names) {
      assert.match(gate(name) ?? "", /in your report to the agent you were forked from$/u, name);
    }
  }
});

test("forkGate() names at most 8 entries and 240 characters of a long list", () => {
  const many = Array.from({ length: 20 }, (_, at) => `tool_${at}`);
  assert.match(allowedWords(many), /^only tool_0, .*, tool_7 and 12 more$/u);
  const long = Array.from({ length: 8 }, (_, at) => `${at}${"x".repeat(55)}`);
  const words = allowedWords(long);
  assert.match(words, / and 4 more$/u);
  assert.ok(words.length < 260, words);
});
