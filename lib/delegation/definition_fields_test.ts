import assert from "node:assert/strict";
import { test } from "node:test";
import type { AgentDefinition } from "./definition.ts";
import type { Dialect } from "./dialect.ts";
import { readLines, readText } from "./testing.ts";

const DIALECTS: readonly Dialect[] = ["mm", "qwen", "claude"];

function read(lines: string, dialect: Dialect = "mm"): AgentDefinition {
  const one = readLines(lines, dialect);
  assert.ok("definition" in one, "fault" in one ? one.fault.reason : "");
  return one.definition;
}

function reason(lines: string, dialect: Dialect = "mm"): string {
  const one = readLines(lines, dialect);
  assert.ok("fault" in one, `accepted: ${lines}`);
  return one.fault.reason.replace('The definition "/x/some.md" is not valid: ', "");
}

function named(name: string): ReturnType<typeof readText> {
  return readText(`---\nname: ${name}\ndescription: d\n---\nDo something.\n`, "mm");
}

test("a definition has its name, description and text, and no more than the file says", () => {
  const { version, ...definition } = read("");
  assert.match(version, /^[0-9a-f]{16}$/u);
  assert.deepEqual(definition, {
    name: "some",
    description: "Does something",
    withoutTools: [],
    notes: [],
    prompt: "Do something.",
    source: { kind: "file", path: "/x/some.md", dialect: "mm", scope: "project" },
  });
});

test("every field of mm is read", () => {
  const definition = read(
    "tools: [read, Bash]\ndisallowedTools: [bash]\nmodel: qwen3:8b\nmaxTurns: 5\nmaxTime: 2m\n" +
      "background: false\ncolor: blue",
  );
  assert.deepEqual(definition.tools, ["read", "bash"]);
  assert.deepEqual(definition.withoutTools, ["bash"]);
  assert.equal(definition.model, "qwen3:8b");
  assert.equal(definition.maxTurns, 5);
  assert.equal(definition.maxTimeMs, 120_000);
  assert.equal(definition.background, false);
  assert.deepEqual(definition.notes, []);
});

test("the version changes with what a definition says, and with nothing else", () => {
  assert.equal(read("model: a").version, read("# a comment\nmodel: 'a'").version);
  assert.notEqual(read("model: a").version, read("model: b").version);
});

test("a name has 2 to 50 letters, digits, - and _, and no separator at its ends", () => {
  for (const name of ["ab", "code-reviewer", "a_b", "Été-2", "a".repeat(50), "x--y"]) {
    assert.ok("definition" in named(name), name);
  }
  for (
    const [name, words] of [
      ["a", /2 to 50 characters/u],
      ["a".repeat(51), /2 to 50 characters/u],
      ["-ab", /begins and ends with a letter/u],
      ["ab_", /begins and ends with a letter/u],
      ["a b", /has letters, digits/u],
      ["a/b", /has letters, digits/u],
      ["../ab", /has letters, digits/u],
      ["12", /"name" must be text, not 12/u],
      ["", /"name" is missing/u],
    ] as const
  ) {
    const one = named(name);
    assert.ok("fault" in one, name);
    assert.match(one.fault.reason, words);
  }
});

test("a name that means something else is reserved, in any case", () => {
  for (
    const name of [
      "self",
      "system",
      "user",
      "model",
      "tool",
      "config",
      "default",
      "main",
      "fork",
      "Fork",
      "MAIN",
    ]
  ) {
    const one = named(name);
    assert.ok("fault" in one && one.fault.reason.includes("reserved"), name);
  }
});

test("a description is required, and its lines become one", () => {
  const one = readText("---\nname: some\n---\nDo something.\n", "claude");
  assert.ok("fault" in one);
  assert.equal(
    one.fault.reason,
    'The definition "/x/some.md" is not valid: "description" is missing; say when it is to be used',
  );
  assert.equal(one.fault.name, "some");
  const lines = readText(
    "---\nname: some\ndescription: |\n  one\n  two\n---\nDo something.\n",
    "mm",
  );
  assert.equal("definition" in lines && lines.definition.description, "one two");
});

test("a text of less than 10 characters is a fault, and all faults are said at once", () => {
  const one = readText("---\nname: some\nmaxTurns: 0\n---\nDo it.\n", "mm");
  assert.ok("fault" in one);
  assert.match(one.fault.reason, /"description" is missing.*"maxTurns" must be.*at least 10 char/u);
});

test("a word in ${} stays in the text as it is", () => {
  const one = readText("---\nname: some\ndescription: d\n---\nUse ${HOME} and ${x}.\n", "mm");
  assert.equal("definition" in one && one.definition.prompt, "Use ${HOME} and ${x}.");
});

test("a key that mm does not know is a fault in a file of mm, with the nearest key", () => {
  assert.equal(reason("modle: x"), 'unknown key "modle"; did you mean "model"?');
  assert.match(
    reason("zzzzzz: 1"),
    /^unknown key "zzzzzz"; the keys are name, description, tools/u,
  );
});

test("a key that mm does not know is noted in a file of another program", () => {
  for (const dialect of ["qwen", "claude"] as const) {
    assert.deepEqual(read("zzzzzz: 1", dialect).notes, [
      '"zzzzzz" is not known here, and left out',
    ]);
  }
});

test("a key without a value is a fault in a file of mm, and absent in others", () => {
  assert.equal(reason("model:"), '"model" has no value; give it one or remove the key');
  assert.equal(reason("tools:"), '"tools" has no value; give it one or remove the key');
  assert.equal(read("tools:", "claude").tools, undefined);
  assert.equal(read("model:", "qwen").model, undefined);
});

test("what mm does not do is said, for each key", () => {
  for (
    const key of [
      "mcpServers",
      "hooks",
      "executionBackend",
      "isolation",
      "memory",
      "skills",
      "effort",
      "initialPrompt",
    ]
  ) {
    for (const dialect of DIALECTS) {
      const { notes } = read(`${key}: x`, dialect);
      assert.equal(notes.length, 1, key);
      assert.ok(notes[0]?.startsWith(`"${key}" is not honoured: `), notes[0]);
    }
  }
});

test("an executor makes the whole file a fault that says what to do", () => {
  for (const dialect of DIALECTS) {
    const one = readLines("executor: {kind: acp, command: some-agent}", dialect);
    assert.ok("fault" in one);
    assert.equal(one.fault.name, "some");
    assert.match(one.fault.reason, /nothing is started under this name; .*mmConfigs with command/u);
  }
});

test("maxTurns is a whole number, also as text; else a fault, or noted in files of others", () => {
  assert.equal(read('maxTurns: "7"').maxTurns, 7);
  for (const wrong of ["0", "-1", "1.5", "many", "true", "[1]"]) {
    assert.match(reason(`maxTurns: ${wrong}`), /^"maxTurns" must be a whole number from 1/u);
    const { maxTurns, notes } = read(`maxTurns: ${wrong}`, "claude");
    assert.equal(maxTurns, undefined);
    assert.match(notes.join(), /^"maxTurns" must be .*; it is left out$/u);
  }
});

test("runConfig gives the limits where no field of mm does", () => {
  const legacy = read("runConfig: {max_turns: 9, max_time_minutes: 1.5}", "qwen");
  assert.equal(legacy.maxTurns, 9);
  assert.equal(legacy.maxTimeMs, 90_000);
  assert.deepEqual(legacy.notes, []);
  const both = read("maxTurns: 3\nrunConfig: {max_turns: 9, x: 1}", "qwen");
  assert.equal(both.maxTurns, 3);
  assert.deepEqual(both.notes, ['"runConfig.x" is not honoured']);
  const wrong = read("runConfig: {max_turns: 0, max_time_minutes: soon}", "qwen");
  assert.equal(wrong.maxTurns, undefined);
  assert.equal(wrong.maxTimeMs, undefined);
  assert.equal(wrong.notes.length, 2);
});

test("maxTime is a duration", () => {
  assert.equal(read("maxTime: 90").maxTimeMs, 90_000);
  assert.match(reason("maxTime: soon"), /"maxTime" must be a duration such as 30s/u);
  assert.match(reason("maxTime: 0"), /"maxTime" must be a duration/u);
});

test("background is true or false, also as text", () => {
  assert.equal(read('background: "true"', "qwen").background, true);
  assert.equal(read("background: 'false'").background, false);
  assert.match(reason("background: yes please"), /"background" must be true or false/u);
  assert.equal(read("background: sometimes", "claude").background, undefined);
});

test("inherit is the model in use, silently; other programs' choices are too, with a note", () => {
  for (const dialect of DIALECTS) {
    const { model, notes } = read("model: inherit", dialect);
    assert.deepEqual([model, notes], [undefined, []]);
    for (const alias of ["sonnet", "opus", "Haiku", "fast", "opusplan", "'sonnet[1m]'"]) {
      const one = read(`model: ${alias}`, dialect);
      assert.equal(one.model, undefined);
      assert.match(one.notes.join(), /means no model here; the one in use is taken/u);
    }
  }
});

test("the name of a model is on one line, so that it fakes nothing in a list", () => {
  const lines = 'model: "m\\nexplore - reads only"';
  assert.match(reason(lines), /^"model" must be the name of a model, not "m/u);
  const one = read(lines, "claude");
  assert.equal(one.model, undefined);
  assert.match(one.notes.join(), /"model" must be the name of a model, .*; it is left out/u);
});

test("authType:id is no model in a file of Qwen Code, and a name elsewhere", () => {
  const qwen = read("model: openai:gpt-5", "qwen");
  assert.equal(qwen.model, undefined);
  assert.equal(qwen.notes.length, 1);
  assert.equal(read("model: qwen3:8b", "qwen").model, "qwen3:8b");
  assert.equal(read("model: openai:gpt-5").model, "openai:gpt-5");
});

test("modelConfig names the model where model does not", () => {
  const one = read("modelConfig: {model: m, temp: 1}", "qwen");
  assert.equal(one.model, "m");
  assert.deepEqual(one.notes, ['"modelConfig.temp" is not honoured']);
  assert.equal(read("model: a\nmodelConfig: {model: m}", "qwen").model, "a");
});

test("no mode of permissions raises anything; each that would is noted", () => {
  for (const mode of ["yolo", "auto", "auto-edit"]) {
    const { tools, notes } = read(`approvalMode: ${mode}`, "qwen");
    assert.equal(tools, undefined);
    assert.match(
      notes.join(),
      new RegExp(`^"approvalMode: ${mode}" is not honoured: what the`, "u"),
    );
  }
  for (const mode of ["acceptEdits", "auto", "bypassPermissions", "dontAsk"]) {
    const { notes } = read(`permissionMode: ${mode}`, "claude");
    assert.match(notes.join(), new RegExp(`^"permissionMode: ${mode}" is not honoured`, "u"));
  }
  for (const mode of ["default", "bubble"]) {
    assert.deepEqual(read(`approvalMode: ${mode}`, "qwen").notes, []);
  }
});

test("plan leaves the tools that only look, and no more of them than the list has", () => {
  assert.deepEqual(read("approvalMode: plan", "qwen").tools, ["read", "glob", "grep", "ls"]);
  const some = read("permissionMode: plan\ntools: Read, Bash, Grep", "claude");
  assert.deepEqual(some.tools, ["read", "grep"]);
});

test("an approvalMode that there is not is a fault, such a permissionMode is noted", () => {
  for (const dialect of DIALECTS) {
    assert.match(
      reason("approvalMode: plna", dialect),
      /must be one of .*; did you mean "plan"\?/u,
    );
    assert.match(reason("approvalMode: 1", dialect), /"approvalMode" must be one of/u);
    assert.match(
      read("permissionMode: x", dialect).notes.join(),
      /"permissionMode" "x" is not known/u,
    );
  }
});

test("permissionMode counts only where there is no approvalMode", () => {
  const one = read("approvalMode: default\npermissionMode: plan", "qwen");
  assert.equal(one.tools, undefined);
});

test("an empty list of tools is none in a file of mm, and all in those of other programs", () => {
  assert.deepEqual(read("tools: []").tools, []);
  assert.deepEqual(read('tools: ""').tools, []);
  assert.equal(read("tools: []", "qwen").tools, undefined);
  assert.equal(read('tools: ""', "claude").tools, undefined);
});

test("a list with only unknown entries gives no tools, in every file", () => {
  for (const dialect of DIALECTS) {
    const { tools, notes } = read("tools: [Bsh, Nothing]", dialect);
    assert.deepEqual(tools, []);
    assert.deepEqual(notes, [
      '"tools" names "Bsh", which is no tool of mm; did you mean "bash"?',
      '"tools" names "Nothing", which is no tool of mm',
    ]);
  }
});

test("an unknown tool that is taken away is a fault in a file of mm, for it would be there", () => {
  assert.equal(
    reason("disallowedTools: [bsh]"),
    '"disallowedTools" names "bsh", which is no tool of mm; did you mean "bash"?',
  );
  assert.equal(read("disallowedTools: [bsh]", "claude").notes.length, 1);
});

test("a list of tools that is none is a fault in every file", () => {
  for (const dialect of DIALECTS) {
    for (const wrong of ["tools: 5", "tools: {read: true}", "disallowedTools: [[bash]]"]) {
      assert.match(
        reason(wrong, dialect),
        /must be a list of names of tools, or text with commas/u,
      );
    }
  }
});

test("a star means all tools", () => {
  assert.equal(read("tools: '*'").tools, undefined);
  assert.deepEqual(read("disallowedTools: '*'").withoutTools, ["*"]);
});
