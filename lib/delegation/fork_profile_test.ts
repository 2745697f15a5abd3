import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { readForkProfile } from "./fork_profile.ts";

/** Runs `body` in a project of its own. */
async function inProject(
  body: (project: {
    readonly cwd: string;
    readonly write: (path: string, text: string | Uint8Array) => Promise<string>;
  }) => Promise<void>,
): Promise<void> {
  const cwd = await realpath(await mkdtemp(join(tmpdir(), "mm-profile-")));
  try {
    await body({
      cwd,
      write: async (path, text) => {
        const file = join(cwd, path);
        await mkdir(dirname(file), { recursive: true });
        await writeFile(file, text);
        return file;
      },
    });
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

const OWN = ".mm/fork-profiles/ro.md";
const profile = (tools: string, more = "") => `---\nname: ro\ntools: ${tools}\n${more}---\n`;

test("readForkProfile() gives the tools and the advice of the project's file", () =>
  inProject(async ({ cwd, write }) => {
    const path = await write(
      OWN,
      profile("[read_file, mcp__git]", "promptHint: '  Look, no more. '\n"),
    );
    assert.deepEqual(await readForkProfile({ name: "ro", cwd }), {
      profile: { path, allow: ["read", "mcp__git"], hint: "Look, no more." },
    });
  }));

test("readForkProfile() reads Qwen Code's folder too, after mm's own", () =>
  inProject(async ({ cwd, write }) => {
    const qwen = await write(".qwen/fork-profiles/ro.md", profile("[]"));
    assert.deepEqual(await readForkProfile({ name: "ro", cwd }), {
      profile: { path: qwen, allow: [] },
    });
    const own = await write(OWN, profile("[ls]"));
    assert.deepEqual(await readForkProfile({ name: "ro", cwd }), {
      profile: { path: own, allow: ["ls"] },
    });
    // One that cannot be used is not passed over.
    await write(OWN, "no profile");
    const read = await readForkProfile({ name: "ro", cwd });
    assert.ok("error" in read && read.error.includes(own));
  }));

test("readForkProfile() takes a byte order mark, Windows' line ends, blank lines below and long names", () =>
  inProject(async ({ cwd, write }) => {
    const name = "prüfung-2_b";
    await write(
      `.mm/fork-profiles/${name}.md`,
      `\ufeff---\nname: ${name}\ntools:\n  - read\npromptHint: ""\n---\n\n  \n`.replaceAll(
        "\n",
        "\r\n",
      ),
    );
    const read = await readForkProfile({ name, cwd });
    assert.ok("profile" in read, JSON.stringify(read));
    assert.deepEqual(read.profile.allow, ["read"]);
    assert.equal(read.profile.hint, undefined);
  }));

for (
  const name of [
    "",
    "a",
    "x".repeat(51),
    "-ro",
    "ro-",
    "_ro",
    "r o",
    "ro.md",
    "../ro",
    "a/b",
    "a\\b",
    "..",
    "ro\0",
    "ro\n",
  ]
) {
  test(`readForkProfile() looks for no file with the name ${JSON.stringify(name).slice(0, 20)}`, () =>
    inProject(async ({ cwd }) => {
      const read = await readForkProfile({ name, cwd });
      assert.ok("error" in read);
      assert.match(read.error, /^fork_profile is no name of a profile; write 2 to 50 letters/u);
    }));
}

test("readForkProfile() says where it looked when there is no such file", () =>
  inProject(async ({ cwd }) => {
    const read = await readForkProfile({ name: "ro", cwd });
    assert.ok("error" in read);
    assert.ok(read.error.includes(JSON.stringify(join(cwd, OWN))), read.error);
    assert.ok(read.error.includes(JSON.stringify(join(cwd, ".qwen/fork-profiles/ro.md"))));
  }));

const BAD: readonly (readonly [string, string | Uint8Array, RegExp])[] = [
  ["no front matter", "name: ro\ntools: []\n", /has no front matter/u],
  ["an empty file", "", /has no front matter/u],
  ["front matter that is not closed", "---\nname: ro\ntools: []\n", /has no line "---"/u],
  ["text below", `${profile("[]")}Do as I say.\n`, /holds text below its front matter/u],
  ["broken YAML", profile("[read"), / line 4: /u],
  ["a tag", profile("!!js []"), / line 3: /u],
  ["a field twice", profile("[]", "tools: [bash]\n"), / line 4: .*duplicate/u],
  ["an alias", profile("&a [read]", "promptHint: *a\n"), /uses an alias/u],
  ["no mapping", "---\n- ro\n---\n", /is no map of keys to values/u],
  ["nothing", "---\n---\n", /front matter without a key/u],
  ["another name", profile("[]").replace("ro", "rw"), /has to say "name: ro"/u],
  ["no name", "---\ntools: []\n---\n", /has to say "name: ro"/u],
  ["the name in other letters", profile("[]").replace("ro", "RO"), /has to say "name: ro"/u],
  ["no tools", "---\nname: ro\n---\n", /tools is no list/u],
  ["tools as text", profile("read, ls"), /tools is no list/u],
  ["a pattern of its own", profile("[read_*]"), /tools\[0\] is "read_\*"/u],
  [
    "a misspelt tool",
    profile("[reed]"),
    /tools\[0\] is "reed", which is no tool; did you mean "read"/u,
  ],
  ["everything", profile("['*']"), /tools\[0\] is "\*"/u],
  ["a number as advice", profile("[]", "promptHint: 5\n"), /a promptHint that is no text/u],
  [
    "too much advice",
    profile("[]", `promptHint: ${"ü".repeat(201)}\n`),
    /a promptHint of 201 char/u,
  ],
  ["an unknown field", profile("[]", "model: big\n"), /holds the field "model"/u],
  ["too many bytes", profile("[]", `# ${"x".repeat(64 * 1024)}\n`), /at most 65536 are read/u],
  ["no UTF-8", new Uint8Array([0x2d, 0x2d, 0x2d, 0x0a, 0xff]), /is not UTF-8/u],
  ["UTF-16", new Uint8Array([0xff, 0xfe, 0x2d, 0x00]), /is UTF-16/u],
];

for (const [what, text, words] of BAD) {
  test(`readForkProfile() refuses a file with ${what}, and names it`, () =>
    inProject(async ({ cwd, write }) => {
      const path = await write(OWN, text);
      const read = await readForkProfile({ name: "ro", cwd });
      assert.ok("error" in read);
      assert.ok(
        read.error.startsWith(`The fork profile ${JSON.stringify(path)} cannot be used: it `),
      );
      assert.match(read.error, words);
    }));
}

test("readForkProfile() takes as much advice as there may be", () =>
  inProject(async ({ cwd, write }) => {
    await write(OWN, profile("[]", `promptHint: "  ${"😀".repeat(200)}  "\n`));
    const read = await readForkProfile({ name: "ro", cwd });
    assert.ok("profile" in read);
    assert.equal(read.profile.hint, "😀".repeat(200));
  }));

test("readForkProfile() follows no link out of the folder, and one inside of it", () =>
  inProject(async ({ cwd, write }) => {
    const outside = await write("elsewhere/ro.md", profile("[bash]"));
    await mkdir(join(cwd, ".mm/fork-profiles"), { recursive: true });
    await symlink(outside, join(cwd, OWN));
    const refused = await readForkProfile({ name: "ro", cwd });
    assert.ok("error" in refused);
    assert.match(refused.error, /is a link that leads out of its folder/u);

    await rm(join(cwd, OWN));
    await write(".mm/fork-profiles/shared/ro.md", profile("[ls]"));
    await symlink("shared/ro.md", join(cwd, OWN));
    const read = await readForkProfile({ name: "ro", cwd });
    assert.ok("profile" in read && read.profile.allow[0] === "ls");

    await rm(join(cwd, ".mm"), { recursive: true });
    await mkdir(join(cwd, ".mm"));
    await symlink(join(cwd, "elsewhere"), join(cwd, ".mm/fork-profiles"));
    const folder = await readForkProfile({ name: "ro", cwd });
    assert.ok("error" in folder);
    assert.match(folder.error, /is a link that leads out of its folder/u);
  }));

test("readForkProfile() reads no directory, no dangling link, and waits for no pipe", () =>
  inProject(async ({ cwd, write }) => {
    const path = join(cwd, OWN);
    await mkdir(path, { recursive: true });
    const words = async () => {
      const read = await readForkProfile({ name: "ro", cwd });
      return "error" in read ? read.error : "";
    };
    assert.match(await words(), /it is a directory/u);
    await rm(path, { recursive: true });
    await symlink("nowhere.md", path);
    assert.match(await words(), /it is a link to something that does not exist/u);
    await rm(path);
    assert.equal(spawnSync("mkfifo", [path]).status, 0);
    assert.match(await words(), /it is not a regular file/u);
    await rm(path);
    await write(OWN, profile("[]"));
    assert.equal(await words(), "");
  }));

test("readForkProfile() works in a project that is reached by a link", () =>
  inProject(async ({ cwd, write }) => {
    const path = await write(`real/${OWN}`, profile("[]"));
    await symlink("real", join(cwd, "link"));
    assert.deepEqual(await readForkProfile({ name: "ro", cwd: join(cwd, "link") }), {
      profile: { path, allow: [] },
    });
  }));
