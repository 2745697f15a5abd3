import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { DELEGATION } from "../config/testing.ts";
import { definitionsCommand } from "./definitions_command.ts";
import { openDefinitionBook } from "./definition_book.ts";
import { type DefinitionDirs, inDefinitionDirs } from "./testing.ts";

const SETTING = { config: { agents: [], delegation: DELEGATION }, depth: 0 };

const ALL = "bash, read, write, edit, glob, grep, ls, fetch, agent, mcp__*";

const signal = new AbortController().signal;

async function command({ places }: DefinitionDirs, rest: string) {
  const book = await openDefinitionBook(places);
  return await definitionsCommand({ rest, book, places, setting: SETTING, forks: true, signal });
}

test("the list has source, tools, model and notes of each definition, and the faults", async () => {
  await inDefinitionDirs(async (dirs) => {
    const claude = await dirs.define(
      "foreign",
      "home/.claude/agents/f.md",
      "tools: Read, WebSearch\nmodel: m\nmaxTurns: 7\nmaxTime: 2m\nbackground: true\n",
    );
    const mine = await dirs.define(
      "mine",
      "home/project/.mm/agents/m.md",
      "disallowedTools: [bash]\n",
    );
    const broken = await dirs.write("home/project/.mm/agents/b.md", "x");
    const second = await dirs.define("Mine", "home/project/.claude/agents/second.md");
    const { ok, text } = await command(dirs, "");
    assert.ok(ok);
    assert.equal(
      text,
      [
        "explore - Searches and reads the project to answer a question; changes nothing",
        "  built in; tools: read, glob, grep, ls",
        "foreign - in home/.claude/agents/f.md",
        `  ${claude} (user, written for Claude Code); tools: read; model: m; at most 7 model requests; ` +
        "at most 2 min; in the background",
        '  "tools": mm has no tool like "WebSearch"',
        "general-purpose - Does a task of several steps on its own, with all tools",
        `  built in; tools: ${ALL}`,
        "mine - in home/project/.mm/agents/m.md",
        `  ${mine} (project); tools: ${ALL.replace("bash, ", "")}`,
        `The definition "${broken}" has no front matter: its first line must be "---", with the keys ` +
        "below it",
        `"${second}" is not used: "${mine}" comes first with the name "Mine"`,
      ].join("\n"),
    );
  });
});

test("the list has the profiles of forks", async () => {
  await inDefinitionDirs(async (dirs) => {
    const path = await dirs.write(
      "home/project/.mm/fork-profiles/ro.md",
      "---\nname: ro\ntools: [read]\n---\n",
    );
    const { text } = await command(dirs, "");
    assert.ok(text.endsWith(`\n\nProfiles of forks:\nro\n  ${path}; tools: read`), text);
  });
});

test("show has everything about a definition, its prompt included", async () => {
  await inDefinitionDirs(async (dirs) => {
    const path = await dirs.define(
      "some",
      "home/project/.qwen/agents/s.md",
      "tools: [read]\nmodel: m\nmaxTurns: 5\nrunConfig: {max_time_minutes: 2}\nbackground: false\n" +
        "effort: high\n",
    );
    assert.deepEqual(await command(dirs, "show SOME"), {
      ok: true,
      text: [
        "some - in home/project/.qwen/agents/s.md",
        `from: ${path} (project, written for Qwen Code)`,
        "tools: read",
        "here: read",
        "model: m",
        "longest run: 5 model requests, 2 min",
        "in the background: no",
        'note: "effort" is not honoured: the reasoning of the configuration holds',
        "",
        "Lies in home/project/.qwen/agents/s.md.",
      ].join("\n"),
    });
    const { ok, text } = await command(dirs, "show nobody");
    assert.ok(!ok && text.startsWith('There is no subagent "nobody"; the names are'));
  });
});

test("an agent of mmConfigs and a fork are told from definitions, and none is made of their name", async () => {
  await inDefinitionDirs(async ({ places, ...dirs }) => {
    const withBob = { ...dirs, places: { ...places, agents: ["bob"] } };
    assert.deepEqual(await command(withBob, "show Bob"), {
      ok: false,
      text: "bob is an agent of mmConfigs, and no definition of that name is used",
    });
    assert.deepEqual(await command(withBob, "create Bob Helps"), {
      ok: false,
      text: 'Cannot create the subagent "Bob": bob is an agent of mmConfigs; take another name',
    });
    assert.deepEqual(await command(withBob, "show fork"), {
      ok: false,
      text: '"fork" is a copy of the conversation, and has no definition',
    });
  });
});

test("create and set write what a person types", async () => {
  await inDefinitionDirs(async (dirs) => {
    const project = join(dirs.places.cwd, ".mm", "agents", "helper.md");
    assert.deepEqual(await command(dirs, "create helper  Helps with the rest "), {
      ok: true,
      text: `Wrote "${project}". It can be used at once; its text says how the subagent works.`,
    });
    assert.match(await readFile(project, "utf8"), /^description: Helps with the rest$/mu);
    const user = await command(dirs, "create --user mine Helps everywhere");
    assert.ok(user.ok && user.text.includes(join(dirs.path, "config", "mm", "agents", "mine.md")));
    assert.deepEqual(await command(dirs, "set helper tools read, grep"), {
      ok: true,
      text: `Wrote tools: [read, grep] to "${project}"`,
    });
    assert.match(await readFile(project, "utf8"), /^tools: \[read, grep\]$/mu);
    assert.deepEqual(await command(dirs, "set helper tools -"), {
      ok: true,
      text: `Removed tools from "${project}"`,
    });
    assert.doesNotMatch(await readFile(project, "utf8"), /^tools:/mu);
  });
});

test("a description may begin with any word", async () => {
  await inDefinitionDirs(async (dirs) => {
    const { text } = await command(dirs, "create helper user interface review");
    assert.ok(text.includes(join(dirs.places.cwd, ".mm", "agents", "helper.md")), text);
    assert.deepEqual(await command(dirs, "set helper description"), {
      ok: true,
      text: "helper: description: user interface review",
    });
  });
});

test("set without a value shows the field and writes nothing", async () => {
  await inDefinitionDirs(async (dirs) => {
    const path = await dirs.define(
      "mine",
      "home/project/.mm/agents/m.md",
      "model: m\nmaxTurns: 5\nmaxTime: 2m\ntools: []\ndisallowedTools: [bash]\n",
    );
    const before = await readFile(path, "utf8");
    for (
      const [field, says] of [
        ["model", "model: m"],
        ["maxTurns", "maxTurns: 5"],
        ["maxTime", "maxTime: 2 min"],
        ["tools", "tools: none"],
        ["disallowedTools", "disallowedTools: bash"],
        ["background", "background is not set: as the configuration says"],
      ] as const
    ) {
      const { ok, text } = await command(dirs, `set mine ${field} `);
      assert.deepEqual([ok, text], [true, `mine: ${says}`]);
    }
    // What a built-in one says can be read as well.
    assert.deepEqual(await command(dirs, "set general-purpose model"), {
      ok: true,
      text: "general-purpose: model is not set: the model in use",
    });
    assert.equal(await readFile(path, "utf8"), before);
  });
});

test("what is missing or wrong is said, with how the command is used", async () => {
  await inDefinitionDirs(async (dirs) => {
    for (
      const [rest, words] of [
        ["delete x", /^\/agents does not know "delete": \/agents show <name>, /u],
        ["show", /^\/agents show needs the name of a subagent: /u],
        ["create", /^\/agents create needs the name/u],
        ["create x1", /say after its name what it is for/u],
        ["create x1 --user Helps", /^\/agents create takes no "--user": \/agents show/u],
        ["create --user", /^\/agents create needs the name/u],
        ["set explore", /^Say which field to set; the fields are description, tools, /u],
        [
          "set explore modle x",
          /^Cannot set the field "modle"; the fields are .*did you mean "model"/u,
        ],
        ["set explore modle", /^Cannot set the field "modle"; the fields are /u],
      ] as const
    ) {
      const { ok, text } = await command(dirs, rest);
      assert.ok(!ok, rest);
      assert.match(text, words);
    }
  });
});
