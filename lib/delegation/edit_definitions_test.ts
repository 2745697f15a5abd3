import assert from "node:assert/strict";
import { readdir, readFile, stat, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { UserError } from "../base/errors.ts";
import { openDefinitionBook } from "./definition_book.ts";
import { createDefinition, setDefinitionField } from "./edit_definitions.ts";
import { type DefinitionDirs, inDefinitionDirs } from "./testing.ts";

const signal = new AbortController().signal;

async function message(run: () => Promise<unknown>): Promise<string> {
  try {
    await run();
  } catch (error) {
    assert.ok(error instanceof UserError, `${error}`);
    return error.message;
  }
  return assert.fail("accepted");
}

/** Sets fields one after the other and returns the file's text. */
async function setAll(
  { places }: DefinitionDirs,
  path: string,
  fields: readonly (readonly [field: string, value: string])[],
): Promise<string> {
  for (const [field, value] of fields) {
    await setDefinitionField({ name: "some", field, value, places, signal });
  }
  return await readFile(path, "utf8");
}

test("createDefinition() writes a commented file that can be used at once", async () => {
  await inDefinitionDirs(async ({ path, places }) => {
    const book = await openDefinitionBook(places);
    const file = await createDefinition({
      name: "reviewer",
      description: 'Finds: "mistakes" # in a\n change',
      scope: "project",
      places,
    });
    assert.equal(file, join(places.cwd, ".mm", "agents", "reviewer.md"));
    const found = await book.find("reviewer");
    assert.ok("definition" in found);
    assert.equal(found.definition.description, 'Finds: "mistakes" # in a change');
    assert.deepEqual(found.definition.notes, []);
    const user = await createDefinition({
      name: "writer",
      description: "Writes",
      scope: "user",
      places,
    });
    assert.equal(user, join(path, "config", "mm", "agents", "writer.md"));
    const writer = await book.find("writer");
    assert.match(
      "definition" in writer ? writer.definition.prompt : "",
      /^You are the subagent writer\. What you are for: Writes\n/u,
    );
  });
});

test("each key that createDefinition() comments out can be made active", async () => {
  await inDefinitionDirs(async ({ places, write }) => {
    const file = await createDefinition({
      name: "some",
      description: "d",
      scope: "project",
      places,
    });
    const text = await readFile(file, "utf8");
    await write("home/project/.mm/agents/some.md", text.replaceAll(/^#(?=[a-z])/gimu, ""));
    const found = await (await openDefinitionBook(places)).find("some");
    assert.ok("definition" in found, "error" in found ? found.error : "");
    const { tools, withoutTools, model, maxTurns, maxTimeMs, background } = found.definition;
    assert.deepEqual(
      [tools, withoutTools, model, maxTurns, maxTimeMs, background],
      [["read", "glob", "grep", "ls"], ["write", "edit"], "name-on-the-server", 50, 600_000, false],
    );
  });
});

test("createDefinition() writes over nothing, and takes no name that is none or is taken", async () => {
  await inDefinitionDirs(async ({ places, define, write }) => {
    const create = (name: string, scope: "project" | "user" = "project", description = "d") =>
      message(() => createDefinition({ name, description, scope, places }));
    const file = await define("taken", "home/project/.mm/agents/other.md");
    assert.equal(
      await create("Taken"),
      `Cannot create the subagent "Taken": "${file}" defines it already`,
    );
    assert.match(await create("taken", "user"), /defines it already/u);
    await write("home/project/.mm/agents/broken.md", "not to be lost");
    assert.match(await create("broken"), /broken\.md": it exists already$/u);
    await symlink("/nowhere", join(places.cwd, ".mm", "agents", "link.md"));
    assert.match(await create("link"), /link\.md": it exists already$/u);
    for (const name of ["fork", "../x", "a", ""]) {
      assert.match(await create(name), /^Cannot create the subagent: "name" is /u);
    }
    assert.match(await create("good", "project", " "), /say after its name what it is for/u);
    assert.equal(
      await readFile(join(places.cwd, ".mm", "agents", "broken.md"), "utf8"),
      "not to be lost",
    );
  });
});

test("createDefinition() may take the place of what counts less", async () => {
  await inDefinitionDirs(async ({ places, define }) => {
    await define("one", "home/.claude/agents/one.md");
    await define("two", "config/mm/agents/two.md");
    await createDefinition({ name: "one", description: "d", scope: "user", places });
    await createDefinition({ name: "two", description: "d", scope: "project", places });
    const { definitions } = await (await openDefinitionBook(places)).current();
    assert.ok(
      definitions.every(({ source, description }) =>
        source.kind === "builtin" || description === "d"
      ),
    );
  });
});

test("setDefinitionField() changes one field, and nothing else of the file", async () => {
  await inDefinitionDirs(async (dirs) => {
    const text = "---\n# Mine.\nname:   some\ndescription: 'Old' # why\ntools:\n  - read # look\n" +
      "  - grep\n\nmodel: m   # fast\nmaxTurns: 5\n---\n\nDo   something.\n";
    const path = await dirs.write("home/project/.mm/agents/x.md", text);
    assert.equal(
      await setAll(dirs, path, [
        ["tools", "read, Bash"],
        ["description", "New: one"],
        ["model", "qwen3:8b"],
        ["maxTurns", "9"],
        ["background", "false"],
        ["maxTime", "10m"],
        ["disallowedTools", "edit,mcp__git"],
      ]),
      '---\n# Mine.\nname:   some\ndescription: "New: one" # why\ntools: [read, Bash]\n\n' +
        "model: qwen3:8b   # fast\nmaxTurns: 9\nbackground: false\nmaxTime: 10m\n" +
        "disallowedTools: [edit, mcp__git]\n---\n\nDo   something.\n",
    );
  });
});

test("createDefinition() takes no name of a built-in subagent, and says what to do", async () => {
  await inDefinitionDirs(async ({ places }) => {
    for (const scope of ["project", "user"] as const) {
      assert.match(
        await message(() => createDefinition({ name: "Explore", description: "d", scope, places })),
        /^Cannot create the subagent "Explore": it is built in .* or write ".*Explore\.md" yourself/u,
      );
    }
    const found = await (await openDefinitionBook(places)).find("explore");
    assert.ok("definition" in found && found.definition.source.kind === "builtin");
  });
});

test("setDefinitionField() removes a field that is given a dash", async () => {
  await inDefinitionDirs(async (dirs) => {
    const path = await dirs.define(
      "some",
      "home/project/.mm/agents/x.md",
      "model: m # x\ntools: []\n",
    );
    const text = await setAll(dirs, path, [["model", "-"], ["tools", " -"], ["maxTurns", "-"]]);
    assert.ok(!/model|tools|maxTurns/u.test(text), text);
    assert.match(
      await message(() => setAll(dirs, path, [["description", "-"]])),
      /^Cannot set "description" of "some": .*"description" is missing/u,
    );
  });
});

test("setDefinitionField() keeps CRLF, a byte order mark, the mode and a link", async () => {
  await inDefinitionDirs(async (dirs) => {
    const target = await dirs.write(
      "elsewhere/t.md",
      "\ufeff---\r\nname: some\r\ndescription: d\r\n---\r\nDo something.\r\n",
    );
    if (process.platform !== "win32") {
      const { chmod } = await import("node:fs/promises");
      await chmod(target, 0o640);
    }
    await dirs.define("other", "home/project/.mm/agents/other.md");
    await symlink(target, join(dirs.places.cwd, ".mm", "agents", "link.md"));
    await setDefinitionField({
      name: "some",
      field: "maxTurns",
      value: "3",
      places: dirs.places,
      signal,
    });
    assert.equal(
      await readFile(target, "utf8"),
      "\ufeff---\r\nname: some\r\ndescription: d\r\nmaxTurns: 3\r\n---\r\nDo something.\r\n",
    );
    if (process.platform !== "win32") assert.equal((await stat(target)).mode & 0o777, 0o640);
    assert.deepEqual(await readdir(dirname(target)), ["t.md"]);
  });
});

test("setDefinitionField() takes none for a list without tools", async () => {
  await inDefinitionDirs(async (dirs) => {
    const path = await dirs.define("some", "home/project/.mm/agents/x.md");
    assert.match(await setAll(dirs, path, [["tools", "none"]]), /^tools: \[\]$/mu);
  });
});

test("setDefinitionField() refuses what cannot be used, and leaves the file as it is", async () => {
  await inDefinitionDirs(async (dirs) => {
    const path = await dirs.define("some", "home/project/.mm/agents/x.md");
    const before = await readFile(path, "utf8");
    for (
      const [field, value, words] of [
        ["tools", "read, bsh", /"bsh", which is no tool of mm; did you mean "bash"\?$/u],
        ["tools", "Bash(git *)", /the pattern "Bash\(git \*\)" is not honoured/u],
        ["disallowedTools", "bsh", /"bsh", which is no tool of mm/u],
        ["model", "sonnet", /means no model here/u],
        ["maxTurns", "many", /"maxTurns" must be a whole number/u],
        ["maxTime", "a while", /"maxTime" must be a duration/u],
        ["maxTurns", "5\nname: x", /"maxTurns" must be/u],
        ["background", "perhaps", /"background" must be true or false/u],
        ["prompt", "x", /^Cannot set the field "prompt"; the fields are description, tools/u],
        [
          "modle",
          "x",
          /^Cannot set the field "modle"; the fields are .*; did you mean "model"\?$/u,
        ],
        ["name", "x", /^Cannot set the field "name"/u],
      ] as const
    ) {
      assert.match(await message(() => setAll(dirs, path, [[field, value]])), words);
      assert.equal(await readFile(path, "utf8"), before);
    }
  });
});

test("setDefinitionField() changes nothing of what is built in or was written for others", async () => {
  await inDefinitionDirs(async ({ places, define, write }) => {
    await define("foreign", "home/.claude/agents/f.md");
    await write(
      "home/project/.mm/agents/flow.md",
      "---\n{name: flow, description: d}\n---\nDo it all.\n",
    );
    const set = (name: string) =>
      message(() => setDefinitionField({ name, field: "model", value: "m", places, signal }));
    assert.match(
      await set("explore"),
      /"explore", which is built in; write a file with that name/u,
    );
    assert.match(await set("foreign"), /f\.md" was written for another program; change the file/u);
    assert.match(await set("flow"), /its fields do not stand on lines of their own/u);
    assert.match(await set("nobody"), /^There is no subagent "nobody"; the names are/u);
  });
});
