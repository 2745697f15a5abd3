import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import { basename, join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import type { DefinitionFault } from "./definition.ts";
import { MAX_DEFINITION_BYTES, readDefinition } from "./read_definition.ts";
import { inDefinitionDirs, readText } from "./testing.ts";

const GOOD = "---\nname: some\ndescription: d\n---\nDo something.\n";

async function fault(path: string): Promise<DefinitionFault> {
  const one = await readDefinition({ kind: "file", path, dialect: "mm", scope: "user" });
  assert.ok(one !== undefined && "fault" in one, "accepted");
  assert.equal(one.fault.path, path);
  return one.fault;
}

function reason(text: string, dialect: "mm" | "claude" = "mm"): string {
  const one = readText(text, dialect);
  assert.ok("fault" in one, "accepted");
  return one.fault.reason.replace('The definition "/x/some.md" ', "");
}

test("a byte order mark and CRLF are taken, and the text has line feeds", async () => {
  await inDefinitionDirs(async ({ write }) => {
    const path = await write(
      "a.md",
      "\ufeff---\r\nname: some\r\ndescription: d\r\ntools:\r\n  - read\r\n---\r\n\r\nOne line.\r\nTwo.\r\n",
    );
    const one = await readDefinition({ kind: "file", path, dialect: "mm", scope: "user" });
    assert.ok(one !== undefined && "definition" in one);
    assert.equal(one.definition.prompt, "One line.\nTwo.");
    assert.deepEqual(one.definition.tools, ["read"]);
  });
});

test("a link to a regular file is read, and what is no regular file is a fault", async () => {
  await inDefinitionDirs(async ({ path: dir, write }) => {
    const target = await write("target.txt", GOOD);
    const link = join(dir, "link.md");
    await symlink(target, link);
    const one = await readDefinition({ kind: "file", path: link, dialect: "mm", scope: "user" });
    assert.ok(one !== undefined && "definition" in one);
    await mkdir(join(dir, "folder"));
    await symlink(join(dir, "folder"), join(dir, "to-folder.md"));
    assert.match((await fault(join(dir, "to-folder.md"))).reason, /is a directory/u);
    await symlink(join(dir, "gone"), join(dir, "broken.md"));
    assert.match((await fault(join(dir, "broken.md"))).reason, /link to something that does not/u);
    if (process.platform !== "win32") {
      await symlink("/dev/zero", join(dir, "endless.md"));
      assert.match((await fault(join(dir, "endless.md"))).reason, /is not a regular file/u);
    }
  });
});

test("a link to a file of the system that is regular and does not end is a fault at once", async () => {
  await inDefinitionDirs(async ({ path: dir }) => {
    // Read by anybody but root it is a fault too: nobody else may.
    for (const target of ["/proc/kmsg", "/proc/self/pagemap"].filter((path) => existsSync(path))) {
      const link = join(dir, `${basename(target)}.md`);
      await symlink(target, link);
      assert.match((await fault(link)).reason, /cannot be read: /u);
    }
  });
});

test("front matter that takes long to read is a fault, and many faults are counted", () => {
  const long = `---\nname: some\ndescription: ${"x".repeat(16_384)}\n---\nDo something.\n`;
  assert.match(reason(long), /^has front matter of 16409 characters; at most 16384 are read$/u);
  const keys = Array.from({ length: 1000 }, (_, at) => `key${at}: 1\n`).join("");
  const text = GOOD.replace("---\nD", `${keys}---\nD`);
  assert.match(reason(text), /^is not valid: unknown key "key0".*; and 988 more$/u);
  const one = readText(text, "claude");
  assert.ok("definition" in one);
  assert.equal(one.definition.notes.length, 13);
  assert.equal(one.definition.notes.at(-1), "and 988 more");
});

test("a file that is too large or no UTF-8 is a fault that has the file's name", async () => {
  await inDefinitionDirs(async ({ write }) => {
    const large = await write("large-one.md", GOOD.padEnd(MAX_DEFINITION_BYTES + 1, "x"));
    assert.match((await fault(large)).reason, /has 262145 bytes; at most 262144 are read/u);
    assert.equal((await fault(large)).name, "large-one");
    const fits = await write("fits.md", GOOD.padEnd(MAX_DEFINITION_BYTES, "x"));
    const one = await readDefinition({ kind: "file", path: fits, dialect: "mm", scope: "user" });
    assert.ok(one !== undefined && "definition" in one);
    const bytes = new Uint8Array([...new TextEncoder().encode(GOOD), 0xff]);
    assert.match((await fault(await write("bad.md", bytes))).reason, /is not UTF-8.* \(line 6\)/u);
  });
});

test("a file that is gone is no definition and no fault", async () => {
  await inDefinitionDirs(async ({ path }) => {
    const file = { kind: "file", path: join(path, "x.md"), dialect: "mm", scope: "user" } as const;
    assert.equal(await readDefinition(file), undefined);
  });
});

test("a file without front matter, or without its end, is a fault that says what is missing", () => {
  for (const text of ["", "# Notes\n", "name: x\n---\n", " ---\nname: x\n---\n"]) {
    assert.match(reason(text), /^has no front matter: its first line must be "---"/u);
  }
  assert.equal(reason("---\nname: some\n"), 'has no line "---" that ends its front matter');
  assert.equal(reason("---\n---\nDo something.\n"), "has front matter without a key");
  assert.equal(
    reason("---\n- a\n---\nDo it all.\n"),
    "has front matter that is no map of keys to values",
  );
});

test("a line of dashes in the text does not end it", () => {
  const one = readText(`${GOOD}\n---\nMore.\n`, "mm");
  assert.equal("definition" in one && one.definition.prompt, "Do something.\n\n---\nMore.");
});

test("a key that stands twice is a fault with its line", () => {
  assert.equal(
    reason("---\nname: some\ndescription: d\nname: other\n---\nDo something.\n"),
    "has front matter that is not valid YAML: line 4: duplicate key",
  );
});

test("an alias is a fault, and so is a value nested without end", () => {
  assert.equal(
    reason("---\nname: &a some\ndescription: *a\n---\nDo something.\n"),
    "uses an alias (*name) in its front matter; write it out",
  );
  assert.match(reason(`---\nname: ${"[".repeat(15_000)}\n---\nDo something.\n`), /nest|not valid/u);
});

test("a name of the object prototype as a key is an unknown key", () => {
  const text = GOOD.replace(
    "description",
    "__proto__: {tools: [bash]}\nconstructor: 1\ndescription",
  );
  assert.match(reason(text), /unknown key "__proto__".*unknown key "constructor"/u);
});

test("lines that are no YAML are read as text in files of other programs, with a note", () => {
  const text = "---\nname: some\ndescription: Use this when: it is needed. Example: a # b\n" +
    "tools: Read, Bash\nmaxTurns: 4\n---\nDo something.\n";
  const one = readText(text, "claude");
  assert.ok("definition" in one);
  assert.equal(one.definition.description, "Use this when: it is needed. Example: a # b");
  assert.deepEqual(one.definition.tools, ["read", "bash"]);
  assert.equal(one.definition.maxTurns, 4);
  assert.deepEqual(one.definition.notes, [
    "the front matter is not valid YAML, and was read line by line",
  ]);
  assert.match(reason(text), /not valid YAML: line 3: a second key on the same line/u);
});

test("a fault of a file that says no name has the file's name, where that can be one", () => {
  const one = readText("---\ndescription: d\n---\nDo something.\n", "claude");
  assert.equal("fault" in one && one.fault.name, "some");
});
