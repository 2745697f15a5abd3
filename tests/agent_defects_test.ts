/** What went wrong in another program with subagents, and goes otherwise here. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { AgentStage, endsIn, runCalls, textsOf, withStage } from "./support/agent_stage.ts";
import { bash, delegate } from "./support/agents.ts";
import { onTool, onUser } from "./support/model_server.ts";
import { withProject } from "./support/project.ts";

const { wait } = runCalls;
const INLINE = { run_in_background: false };
const LIMIT = 8000;

/** A report of 120 KB with something to find at its beginning, in its middle and at its end. */
const REPORT = `first\n${"a line of it\n".repeat(5000)}needle\n${"more of it\n".repeat(5000)}last`;

test("a long result is within the limit everywhere, and the whole of it can be read in a file", () =>
  withStage([onUser("Report", { chunks: [REPORT] })], async (stage) => {
    const id = await stage.start("Report");
    await stage.saved(id, "ended");
    const [inline = ""] = await stage.call(delegate("Report", INLINE));
    const [end] = stage.ends;
    assert.equal(end?.id, id);
    const told = end?.result ?? "";
    const background = /\[the whole result is in "([^"]+)"\]$/u.exec(told)?.[1] ?? "";
    for (const text of [told, inline]) {
      assert.ok(text.length <= LIMIT, `${text.length}`);
      assert.match(text, /^first\na line [^]*\n\[\.{3} \d+ of \d+ characters left out \.{3}\]\n/u);
      assert.match(text, /\nmore of it\nlast\n\[the whole result is in "/u);
    }
    assert.match(background, new RegExp(`${id}-1\\.txt$`, "u"));
    assert.equal(await readFile(background, "utf8"), REPORT);
    // The agent can look into it as into any file.
    const [found = ""] = await stage.call({
      name: "grep",
      arguments: { pattern: "needle", path: background },
    });
    assert.match(found, /\n5002:needle\n/u);
  }, { maxOutput: LIMIT }));

test("a run that reaches the turn limit of its definition keeps its words, and is told as incomplete", () =>
  withStage([
    onUser("Look", { text: "It is in a.ts.", toolCalls: [bash("echo one")] }),
    onTool("one", { text: "Perhaps also in b.ts.", toolCalls: [bash("echo two")] }),
  ], async (stage) => {
    await stage.p.write(
      ".mm/agents/brief.md",
      "---\nname: brief\ndescription: Looks\nmaxTurns: 2\n---\nYou look, but not for long.\n",
    );
    const brief = { subagent_type: "brief" };
    const [inline = ""] = await stage.call(delegate("Look", { ...brief, ...INLINE }));
    const words = /^Perhaps also in b\.ts\.\n\[brief stopped before the end: turn limit\]/u;
    assert.match(inline, words);
    assert.equal(stage.theirs.length, 2);
    await stage.start("Look", brief);
    await stage.call(wait());
    const [end] = stage.ends;
    assert.equal(end?.status, "incomplete");
    assert.match(end?.result ?? "", words);
  }));

test("${HOME} and the like in a definition's text reach the model as they are written", () =>
  withStage([onUser("Look", { text: "Seen." })], async (stage) => {
    const text = "Work in ${HOME}, not in ${no_such_name}, nor in $HOME or {{these}}.";
    await stage.p.write(
      ".mm/agents/shell.md",
      `---\nname: shell\ndescription: Looks\n---\n${text}\n`,
    );
    const [seen] = await stage.call(delegate("Look", { subagent_type: "shell", ...INLINE }));
    assert.equal(seen, "Seen.");
    assert.ok(stage.theirs[0]?.system.startsWith(`${text}\n`));
  }));

test("the text false is false, and an unknown argument is named with those there are", () =>
  withStage([onUser("Look", { text: "Seen." })], async (stage) => {
    const [inline, unknown = ""] = await stage.call(
      delegate("Look", { run_in_background: "false" }),
      delegate("Look", { background: false, timeout: 5 }),
    );
    assert.equal(inline, "Seen.");
    assert.match(unknown, /"background" is not an argument.*"timeout" is not an argument/u);
    assert.match(unknown, /The arguments are description, prompt, subagent_type \(optional\),/u);
    assert.equal(stage.theirs.length, 1);
  }));

test("a definition that is wrong is told to the person, and to the model that calls it", () =>
  withProject(async (p) => {
    const stage = new AgentStage(p, [onUser("Look", { text: "Seen." })], {});
    await stage.serve();
    await stage.open();
    const { editor, session } = stage;
    await editor.prompt(session, "Hello");
    const words = /The definition ".*reviewer\.md" is not valid: unknown key "tool"/u;
    assert.match(editor.text(session), words);
    const [told = ""] = await stage.call(delegate("Look", { subagent_type: "reviewer" }));
    assert.match(told, words);
    assert.match(told, /^Not started: /u);
    // What a file asks for and does not get is told when it is used, and keeps nothing from running.
    const before = editor.text(session).length;
    const bold = { subagent_type: "bold", ...INLINE };
    assert.deepEqual(await stage.call(delegate("Look", bold), delegate("Look", bold)), [
      "Seen.",
      "Seen.",
    ]);
    const said = editor.text(session).slice(before).match(/The subagent bold: .*"hooks" is not/gu);
    assert.equal(said?.length, 1);
    await editor.prompt(session, "/agents");
    assert.match(editor.text(session), /"hooks" is not honoured[^]*reviewer\.md" is not valid/u);
    assert.deepEqual(endsIn(textsOf(stage.own.at(-1)).join("\n")), []);
  }, {
    files: {
      ".mm/agents/reviewer.md":
        "---\nname: reviewer\ndescription: Reviews\ntool: [read]\n---\nYou review the changes.\n",
      ".claude/agents/bold.md":
        "---\nname: bold\ndescription: Does\nhooks: {Stop: []}\nmcpServers: {}\n---\nYou do things.\n",
    },
  }));
