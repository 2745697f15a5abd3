import assert from "node:assert/strict";
import { test } from "node:test";
import { TOOL_NAMES } from "../config/tool_names.ts";
import { foreignTool } from "./foreign_tools.ts";
import { readToolEntries, splitEntries } from "./tool_entries.ts";

function toolsOf(...entries: string[]): readonly string[] {
  const { tools, unknown, notes } = readToolEntries(entries, "tools");
  assert.deepEqual([unknown, notes], [[], []]);
  return tools;
}

test("a list is written as a list or as text with commas, and pattern commas do not separate", () => {
  assert.deepEqual(splitEntries(["read ", "", " bash"]), ["read", "bash"]);
  assert.deepEqual(splitEntries(" read, bash ,,"), ["read", "bash"]);
  assert.deepEqual(splitEntries("Bash(git add, git log), Read"), [
    "Bash(git add, git log)",
    "Read",
  ]);
  assert.deepEqual(splitEntries("A(b, Read, c), (d, e)"), ["A(b, Read, c)", "(d, e)"]);
  assert.deepEqual(splitEntries("A(b, Read"), ["A(b", "Read"]);
  assert.deepEqual(splitEntries(""), []);
  for (const wrong of [5, null, { read: true }, [1], [["read"]]]) {
    assert.equal(splitEntries(wrong), undefined);
  }
});

test("a long text of a list is read in a moment", () => {
  const began = performance.now();
  assert.equal(splitEntries("bash,".repeat(50_000))?.length, 50_000);
  assert.equal(splitEntries("a(,".repeat(50_000))?.length, 50_000);
  // Where each comma is looked at again with all that follows, this takes half a minute.
  assert.ok(performance.now() - began < 5000);
});

test("the tools of Claude Code become those of mm", () => {
  assert.deepEqual(
    toolsOf("Read", "Write", "Edit", "MultiEdit", "Bash", "Glob", "Grep", "LS", "WebFetch", "Task"),
    ["read", "write", "edit", "bash", "glob", "grep", "ls", "fetch", "agent"],
  );
  assert.deepEqual(toolsOf("Agent"), ["agent"]);
});

test("the tools of Qwen Code become those of mm, by their names and by those it shows", () => {
  assert.deepEqual(
    toolsOf(
      "read_file",
      "write_file",
      "edit",
      "run_shell_command",
      "glob",
      "grep_search",
      "list_directory",
      "web_fetch",
      "agent",
    ),
    ["read", "write", "edit", "bash", "glob", "grep", "ls", "fetch", "agent"],
  );
  assert.deepEqual(
    toolsOf("ReadFile", "WriteFile", "Shell", "ListFiles", "SearchFiles", "replace"),
    ["read", "write", "bash", "ls", "grep", "edit"],
  );
});

test("every name of another program leads to a tool of mm, or to none", () => {
  for (const name of ["Task", "TodoWrite", "ask_user_question", "ReadManyFiles", "findfiles"]) {
    const tool = foreignTool(name);
    assert.ok(typeof tool === "string" && TOOL_NAMES.includes(tool), name);
  }
  assert.equal(foreignTool("WebSearch"), null);
  assert.equal(foreignTool("constructor"), undefined);
});

test("a server stands for all of its tools, and a pattern for what it matches", () => {
  assert.deepEqual(
    toolsOf("mcp__git", "mcp__git__log", "mcp__web__get_*", "mcp__*"),
    ["mcp__git__*", "mcp__git__log", "mcp__web__get_*", "mcp__*"],
  );
  for (const wrong of ["mcp__", "mcp__a b", "mcp__git__log(x", "read_*", "read*"]) {
    const { tools, unknown } = readToolEntries([wrong], "tools");
    assert.deepEqual([tools, unknown.length], [[], 1], wrong);
  }
});

test("a pattern of arguments is not honoured, and never gives the whole tool", () => {
  for (const entry of ["Bash(git *)", "Agent(reviewer)", "WebFetch(domain:x)", "read(*)"]) {
    const has = readToolEntries([entry], "tools");
    assert.deepEqual(has.tools, [], entry);
    assert.match(
      has.notes.join(),
      /is not honoured, so the subagent does not have this tool at all/u,
    );
  }
  const taken = readToolEntries(["Bash(rm *)"], "disallowedTools");
  assert.deepEqual(taken.tools, ["bash"]);
  assert.equal(taken.notes.length, 1);
});

test("a tool that mm has not is noted where it is wanted, and nothing where it is taken away", () => {
  const { tools, unknown, notes } = readToolEntries(["WebSearch", "Read"], "tools");
  assert.deepEqual([tools, unknown], [["read"], []]);
  assert.deepEqual(notes, ['"tools": mm has no tool like "WebSearch"']);
  assert.deepEqual(readToolEntries(["WebSearch"], "disallowedTools").notes, []);
});

test("a tool that no subagent has is noted", () => {
  assert.deepEqual(readToolEntries(["TodoWrite", "ask_user"], "tools").notes, [
    '"tools": a subagent never has "todo"',
    '"tools": a subagent never has "ask_user"',
  ]);
});
