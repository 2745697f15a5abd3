import assert from "node:assert/strict";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { AgentDefinition } from "./definition.ts";
import { openDefinitionBook } from "./definition_book.ts";
import { inDefinitionDirs } from "./testing.ts";

/** The folders in the order in which they count, from the directory of the test. */
const FOLDERS = [
  "home/project/.mm/agents",
  "home/project/.qwen/agents",
  "home/project/.claude/agents",
  "listed/one",
  "listed/two",
  "config/mm/agents",
  "home/.qwen/agents",
  "home/.claude/agents",
];

const BUILTIN = ["explore", "general-purpose"];

function names(definitions: readonly AgentDefinition[]): string[] {
  return definitions.map(({ name }) => name);
}

test("without a folder there are the built-in definitions, and no faults", async () => {
  await inDefinitionDirs(async ({ places }) => {
    const book = await openDefinitionBook(places);
    assert.deepEqual(names(book.offered), BUILTIN);
    const { definitions, faults } = await book.current();
    assert.deepEqual([names(definitions), faults], [BUILTIN, []]);
    const [explore, general] = book.offered;
    assert.deepEqual(explore?.tools, ["read", "glob", "grep", "ls"]);
    assert.equal(general?.tools, undefined);
  });
});

test("the first folder that has a name counts, in any case, and the others are silent", async () => {
  await inDefinitionDirs(async ({ path, places, define }) => {
    const paths = ["listed/one", "listed/two"].map((name) => join(path, name));
    const files: string[] = [];
    // From the weakest to the strongest.
    for (const [index, folder] of FOLDERS.toReversed().entries()) {
      files.push(await define(index % 2 === 0 ? "Same" : "sAME", `${folder}/${index}.md`));
      const book = await openDefinitionBook({ ...places, paths });
      const found = await book.find("same");
      assert.ok("definition" in found);
      assert.ok(found.definition.source.kind === "file");
      assert.equal(found.definition.source.path, files.at(-1));
      const { definitions, faults } = await book.current();
      assert.equal(definitions.length, BUILTIN.length + 1);
      assert.deepEqual(
        faults.map(({ reason }) => reason).filter((text) => !text.includes("agents.paths")),
        [],
      );
    }
  });
});

test("each folder has its dialect and its scope", async () => {
  await inDefinitionDirs(async ({ path, places, define }) => {
    for (const [index, folder] of FOLDERS.entries()) await define(`n${index}`, `${folder}/a.md`);
    const paths = ["listed/one", "listed/two"].map((name) => join(path, name));
    const { offered } = await openDefinitionBook({ ...places, paths });
    assert.deepEqual(
      offered.flatMap(({ source }) =>
        source.kind === "file" ? [`${source.dialect} ${source.scope}`] : []
      ),
      [
        "mm project",
        "qwen project",
        "claude project",
        "mm listed",
        "mm listed",
        "mm user",
        "qwen user",
        "claude user",
      ],
    );
  });
});

test("a file takes the place of a built-in definition", async () => {
  await inDefinitionDirs(async ({ places, define }) => {
    await define("Explore", "home/.claude/agents/x.md");
    const found = await (await openDefinitionBook(places)).find("explore");
    assert.ok("definition" in found && found.definition.source.kind === "file");
  });
});

test("a project's file that takes the place of a person's own definition, or mm's, has a note of it", async () => {
  await inDefinitionDirs(async ({ places, define }) => {
    const file = await define("General-Purpose", "home/project/.claude/agents/x.md");
    const mine = await define("mine", "home/.claude/agents/mine.md");
    await define("own", "home/project/.mm/agents/own.md");
    await define("own", "home/project/.claude/agents/own.md");
    const notesOf = async (name: string) => {
      const found = await (await openDefinitionBook(places)).find(name);
      return "definition" in found ? found.definition.notes : [found.error];
    };
    const note = `the project's file "${file}" takes the place of`;
    assert.deepEqual(await notesOf("general-purpose"), [`${note} the one that mm brings along`]);
    assert.deepEqual(await notesOf("own"), []);
    assert.deepEqual(await notesOf("mine"), []);
    const other = await define("MINE", "home/project/.mm/agents/mine.md");
    assert.deepEqual(await notesOf("mine"), [
      `the project's file "${other}" takes the place of that of "${mine}"`,
    ]);
  });
});

test("in the home directory the folders of others count once, as the user's", async () => {
  await inDefinitionDirs(async ({ path, places, define }) => {
    await define("one", "home/.qwen/agents/one.md");
    await define("two", "home/.claude/agents/two.md");
    await define("three", "home/.mm/agents/three.md");
    await symlink(places.home, join(path, "also-home"));
    for (const cwd of [places.home, join(path, "also-home")]) {
      const { offered } = await openDefinitionBook({ ...places, cwd });
      const scopes = offered.flatMap(({ name, source }) =>
        source.kind === "file" ? [`${name} ${source.scope}`] : []
      );
      assert.deepEqual(scopes, ["one user", "three project", "two user"]);
    }
  });
});

test("a folder that is reached on two ways counts once", async () => {
  await inDefinitionDirs(async ({ path, places, define, write }) => {
    await define("one", "listed/one.md");
    await write("listed/broken.md", "no front matter");
    await symlink(join(path, "listed"), join(path, "again"));
    const paths = [join(path, "listed"), join(path, "again")];
    const { definitions, faults } = await (await openDefinitionBook({ ...places, paths }))
      .current();
    assert.equal(definitions.length, BUILTIN.length + 1);
    assert.equal(faults.length, 1);
  });
});

test("a listed folder that does not exist is a fault, the usual ones may be missing", async () => {
  await inDefinitionDirs(async ({ path, places, write }) => {
    await write("file", "");
    const paths = [join(path, "gone"), join(path, "file")];
    const { faults } = await (await openDefinitionBook({ ...places, paths })).current();
    assert.deepEqual(faults.map(({ reason }) => reason), [
      `The folder "${join(path, "gone")}" of agents.paths does not exist`,
      `The folder "${join(path, "file")}" of agents.paths is no folder`,
    ]);
  });
});

test("only files that end in .md are read, and no folder inside", async () => {
  await inDefinitionDirs(async ({ places, define, write }) => {
    await define("one", "home/project/.mm/agents/one.MD");
    await define("two", "home/project/.mm/agents/deep/two.md");
    await define("three", "home/project/.mm/agents/three.txt");
    await write("home/project/.mm/agents/folder.md/x", "");
    const { definitions, faults } = await (await openDefinitionBook(places)).current();
    assert.deepEqual([names(definitions), faults], [["explore", "general-purpose", "one"], []]);
  });
});

test("a definition that is written or removed in the middle of a conversation counts at once", async () => {
  await inDefinitionDirs(async ({ places, define }) => {
    const book = await openDefinitionBook(places);
    assert.ok("error" in await book.find("late"));
    const file = await define("late", "home/project/.mm/agents/late.md");
    assert.ok("definition" in await book.find(" Late "));
    const before = await book.find("late");
    await define("late", "home/project/.mm/agents/late.md", "tools: [read]\n");
    const after = await book.find("late");
    assert.ok("definition" in before && "definition" in after);
    assert.notEqual(before.definition.version, after.definition.version);
    await rm(file);
    assert.ok("error" in await book.find("late"));
  });
});

test("what is offered stays as it was, in the order of the names", async () => {
  await inDefinitionDirs(async ({ places, define }) => {
    await define("zeta", "home/project/.mm/agents/a.md");
    await define("Alpha", "home/.claude/agents/z.md");
    const book = await openDefinitionBook(places);
    await define("later", "home/project/.mm/agents/later.md");
    assert.deepEqual(names(book.offered), ["Alpha", "explore", "general-purpose", "zeta"]);
    assert.ok(Object.isFrozen(book.offered));
    const { definitions } = await book.current();
    assert.equal(definitions.length, 5);
  });
});

test("an unknown name is answered with the names there are and the nearest", async () => {
  await inDefinitionDirs(async ({ places, define }) => {
    await define("reviewer", "home/project/.mm/agents/r.md");
    const book = await openDefinitionBook(places);
    assert.deepEqual(await book.find("reviewr"), {
      error: 'There is no subagent "reviewr"; the names are explore, general-purpose, reviewer; ' +
        'did you mean "reviewer"?',
    });
    assert.deepEqual(await book.find("x\u001b[31m"), {
      error: 'There is no subagent "x\ufffd[31m"; the names are explore, general-purpose, reviewer',
    });
  });
});

test("an unknown name is answered with what else can be called there", async () => {
  await inDefinitionDirs(async ({ places }) => {
    const book = await openDefinitionBook(places);
    assert.deepEqual(await book.find("bbo", ["bob", "fork"]), {
      error: 'There is no subagent "bbo"; the names are explore, general-purpose, bob, fork; ' +
        'did you mean "bob"?',
    });
  });
});

test("a definition with the name of an agent of mmConfigs is a fault, in any case, and is not offered", async () => {
  await inDefinitionDirs(async ({ places, define }) => {
    const file = await define("BOB", "home/project/.mm/agents/b.md");
    const book = await openDefinitionBook({ ...places, agents: ["bob", "explore"] });
    assert.deepEqual(names(book.offered), ["general-purpose"]);
    assert.deepEqual(book.faults.map(({ reason }) => reason), [
      `The definition "${file}" is not used: bob is an agent of mmConfigs; give it another name`,
    ]);
    for (const name of ["bob", "Bob"]) {
      assert.deepEqual(await book.find(name), {
        error: "bob is an agent of mmConfigs, and no definition of that name is used",
      });
    }
  });
});

test("files that are not used are named with the reason", async () => {
  await inDefinitionDirs(async ({ places, define, write }) => {
    const first = await define("one", "home/project/.mm/agents/a.md");
    const second = await define("One", "home/project/.mm/agents/b.md");
    const third = await define("one", "home/.claude/agents/c.md");
    const broken = await write(
      "home/project/.mm/agents/x.md",
      "---\nname: two\n---\nDo something.\n",
    );
    const guarded = await define("two", "config/mm/agents/two.md");
    const deep = await define("deep", "home/project/.mm/agents/team/more/deep.md");
    await write("home/project/.mm/agents/team/notes.txt", "x");
    await define("dependency", "home/project/.mm/agents/node_modules/x.md");
    const { unused } = await (await openDefinitionBook(places)).current();
    assert.deepEqual(unused, [
      {
        path: second,
        reason: `"${second}" is not used: "${first}" comes first with the name "One"`,
      },
      {
        path: guarded,
        reason:
          `"${guarded}" is not used: "${broken}", which cannot be used, comes first with the name "two"`,
      },
      { path: third, reason: `"${third}" is not used: "${first}" comes first with the name "one"` },
      {
        path: deep,
        reason: `"${deep}" is not used: folders inside of a folder of definitions are not read`,
      },
    ]);
  });
});

test("the name of a file that is not valid is answered with the reason", async () => {
  await inDefinitionDirs(async ({ places, write }) => {
    const path = await write(
      "home/project/.claude/agents/broken.md",
      "---\nname: broken\n---\nx\n",
    );
    const book = await openDefinitionBook(places);
    const found = await book.find("broken");
    assert.ok("error" in found);
    assert.equal(
      found.error,
      `The definition "${path}" is not valid: "description" is missing; say when it is to be used; ` +
        "its text, the system prompt, must have at least 10 characters",
    );
    assert.deepEqual(names(book.offered), BUILTIN);
  });
});

test("a file that is not valid keeps its name from weaker folders, which may allow more", async () => {
  await inDefinitionDirs(async ({ places, write, define }) => {
    await define("guard", "home/.claude/agents/guard.md");
    await write(
      "home/project/.mm/agents/guard.md",
      "---\nname: guard\ndescription: d\nexecutor: {kind: acp}\n---\nDo something.\n",
    );
    await write("home/project/.mm/agents/explore.md", "---\nname: Explore\n---\nDo something.\n");
    const book = await openDefinitionBook(places);
    for (const name of ["guard", "explore"]) assert.ok("error" in await book.find(name), name);
    assert.deepEqual(names(book.offered), ["general-purpose"]);
  });
});

test("a file that does not say its name keeps nothing from anybody", async () => {
  await inDefinitionDirs(async ({ places, write, define }) => {
    await write("home/project/.mm/agents/guard.md", "no front matter");
    await write("home/project/.mm/agents/alone.md", "no front matter");
    await define("guard", "home/.claude/agents/guard.md");
    const book = await openDefinitionBook(places);
    assert.ok("definition" in await book.find("guard"));
    const alone = await book.find("alone");
    assert.ok("error" in alone && alone.error.includes("has no front matter"));
    assert.equal((await book.current()).faults.length, 2);
  });
});

test("of more than 500 files in a folder the first are read, and that is said", async () => {
  await inDefinitionDirs(async ({ places }) => {
    const folder = join(places.cwd, ".mm", "agents");
    await mkdir(folder, { recursive: true });
    for (let i = 1000; i < 1501; i++) {
      await writeFile(
        join(folder, `${i}.md`),
        `---\nname: n${i}\ndescription: d\n---\nDo something.\n`,
      );
    }
    const { definitions, faults } = await (await openDefinitionBook(places)).current();
    assert.equal(definitions.length, 500 + BUILTIN.length);
    assert.match(faults[0]?.reason ?? "", /has 501 files with definitions; only the first 500/u);
  });
});
