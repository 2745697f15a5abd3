import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { inTestDir } from "../config/testing.ts";
import { checkDefinitions } from "./check_definitions.ts";

/** Checks a directory that holds these files, with this configuration. */
async function check(yaml: string, files: Readonly<Record<string, string>> = {}) {
  let rows: Awaited<ReturnType<typeof checkDefinitions>> = [];
  await inTestDir(async (dir) => {
    await dir.write("agent.yaml", `provider: demo\n${yaml}`);
    for (const [name, text] of Object.entries(files)) await dir.write(name, text);
    const config = await dir.load();
    const env = { HOME: join(dir.path, "home"), MM_CONFIG_DIR: join(dir.path, "user") };
    const found = await checkDefinitions({ io: { env }, config, cwd: dir.path });
    rows = found.map((row) => ({ ...row, detail: row.detail.replaceAll(dir.path, "") }));
  });
  return rows;
}

function definition(name: string, more = ""): string {
  return `---\nname: ${name}\ndescription: Does ${name}\n${more}---\nYou do what you are told.\n`;
}

test("the definitions that can be used are one row that says OK", async () => {
  assert.deepEqual(await check("", { ".mm/agents/r.md": definition("reviewer") }), [
    { what: "subagents", ok: true, detail: "3 definitions: explore, general-purpose, reviewer" },
  ]);
});

test("each file and folder that cannot be used is a row that fails, with the reason", async () => {
  const rows = await check("agents: {paths: [gone]}\nmmConfigs: {bob: {path: bob.yaml}}\n", {
    "bob.yaml": "provider: demo\n",
    ".mm/agents/bob.md": definition("bob"),
    ".mm/agents/x.md": "x",
    ".mm/fork-profiles/ro.md": "---\nname: ro\ntools: [read]\n---\n",
    ".mm/fork-profiles/wrong.md": "---\nname: y\ntools: []\n---\n",
  });
  assert.deepEqual(rows, [
    {
      what: "subagents",
      ok: true,
      detail: "2 definitions: explore, general-purpose\nprofiles of forks: ro",
    },
    { what: "definition", ok: false, detail: 'The folder "/gone" of agents.paths does not exist' },
    {
      what: "definition",
      ok: false,
      detail:
        'The definition "/.mm/agents/bob.md" is not used: bob is an agent of mmConfigs; give ' +
        "it another name",
    },
    {
      what: "definition",
      ok: false,
      detail:
        'The definition "/.mm/agents/x.md" has no front matter: its first line must be "---", ' +
        "with the keys below it",
    },
    {
      what: "fork profile",
      ok: false,
      detail:
        'The fork profile "/.mm/fork-profiles/wrong.md" cannot be used: it has to say "name: wrong", ' +
        "as its file is called",
    },
  ]);
});

test("what is not done of a file, and a file that is not used, are neither well nor a failure", async () => {
  const rows = await check("", {
    ".mm/agents/a.md": definition("explore"),
    ".mm/agents/b.md": definition("Explore"),
  });
  assert.deepEqual(rows.slice(1), [
    {
      what: "definition",
      detail:
        'explore: the project\'s file "/.mm/agents/a.md" takes the place of the one that mm ' +
        "brings along",
    },
    {
      what: "definition",
      detail:
        '"/.mm/agents/b.md" is not used: "/.mm/agents/a.md" comes first with the name "Explore"',
    },
  ]);
});

test("where nobody delegates the files are not looked at", async () => {
  const files = { ".mm/agents/x.md": "x" };
  assert.deepEqual(await check("agents: {maxDepth: 0}\n", files), [
    { what: "subagents", detail: "none: the depth of agents.maxDepth is reached" },
  ]);
  assert.deepEqual(await check("tools: [read]\n", files), [
    { what: "subagents", detail: 'none: "tools" has no agent' },
  ]);
});
