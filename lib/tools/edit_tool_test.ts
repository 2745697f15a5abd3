import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { execFileSync } from "node:child_process";
import { chmod, readFile, readlink, stat, symlink, writeFile } from "node:fs/promises";
import process from "node:process";
import { test } from "node:test";
import { editTool } from "./edit_tool.ts";
import { readTool } from "./read_tool.ts";
import { type TestProject, testProject } from "./testing.ts";
import type { Tool } from "./tool.ts";

const read = readTool as Tool;
const edit = editTool as Tool;

/** Writes a file, reads it as a model would, edits it and returns what is then on the disk. */
async function edited(
  p: TestProject,
  content: string | Uint8Array,
  change: { old_string: string; new_string: string; replace_all?: boolean },
): Promise<{ text: string; ok: boolean; after: string }> {
  const path = await p.file("file.txt", content);
  await p.call(read, { path });
  const result = await p.call(edit, { path, ...change });
  return { ...result, after: await readFile(path, "utf8") };
}

test("edit() replaces one place and says which lines it has now", async (t) => {
  const p = await testProject(t);
  const result = await edited(p, "one\ntwo\nthree\n", {
    old_string: "two\n",
    new_string: "2\n2b\n",
  });
  assert.equal(result.text, 'Edited "file.txt": 1 replacement, lines 2-3');
  assert.equal(result.after, "one\n2\n2b\nthree\n");
});

test("edit() of a CRLF file with LF text changes one hunk and keeps CRLF", async (t) => {
  const p = await testProject(t);
  const lines = Array.from({ length: 60 }, (_, i) => `line ${i}`);
  const path = await p.file("dos.txt", lines.join("\r\n") + "\r\n");
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "core.autocrlf=false", ...args], {
      cwd: p.directory,
      encoding: "utf8",
    });
  git("init", "-q");
  git("add", ".");
  await p.call(read, { path });
  const result = await p.call(edit, {
    path: "dos.txt",
    old_string: "line 30\nline 31\nline 32",
    new_string: "line 30\nnew a\nnew b\nline 32",
  });
  assert.equal(result.ok, true, result.text);
  const diff = git("diff", "-U0");
  assert.equal(diff.match(/^@@/gmu)?.length, 1, diff);
  assert.match(diff, /^@@ -32 \+32,2 @@/mu);
  const expected = lines.flatMap((line) => line === "line 31" ? ["new a", "new b"] : [line]);
  assert.equal(await readFile(path, "utf8"), expected.join("\r\n") + "\r\n");
});

test("edit() of an LF file with CRLF text keeps LF", async (t) => {
  const p = await testProject(t);
  const result = await edited(p, "one\ntwo\nthree\n", {
    old_string: "one\r\ntwo",
    new_string: "1\r\n2",
  });
  assert.equal(result.after, "1\n2\nthree\n");
});

test("edit() leaves the endings of untouched lines in a file that mixes them", async (t) => {
  const p = await testProject(t);
  const result = await edited(p, "a\r\nb\nc\r\nd\ne\r\n", {
    old_string: "b\nc\nd",
    new_string: "b\nC1\nC2\nd",
  });
  assert.equal(result.after, "a\r\nb\nC1\nC2\r\nd\ne\r\n");
  const added = await edited(p, "a\r\nb\r\nc\nd\n", { old_string: "b", new_string: "b1\nb2" });
  assert.equal(added.after, "a\r\nb1\r\nb2\r\nc\nd\n");
});

test("edit() keeps a byte order mark, also when the first line changes", async (t) => {
  const p = await testProject(t);
  const result = await edited(p, "\ufefffirst\nsecond\n", {
    old_string: "first",
    new_string: "1st",
  });
  assert.equal(result.after, "\ufeff1st\nsecond\n");
});

test("edit() keeps UTF-16", async (t) => {
  const p = await testProject(t);
  const path = await p.file("wide.txt", Buffer.from("\ufeffgrüße\r\n😀\r\n", "utf16le").swap16());
  await p.call(read, { path });
  assert.equal((await p.call(edit, { path, old_string: "😀", new_string: "🙂\n" })).ok, true);
  assert.equal((await readFile(path)).swap16().toString("utf16le"), "\ufeffgrüße\r\n🙂\r\n\r\n");
});

test("edit() keeps the end of a file without a final newline", async (t) => {
  const p = await testProject(t);
  const result = await edited(p, "one\ntwo", { old_string: "one", new_string: "1" });
  assert.equal(result.after, "1\ntwo");
});

test("edit() joins characters outside the basic plane that share a half", async (t) => {
  const p = await testProject(t);
  const result = await edited(p, "say 😀 now", { old_string: "😀", new_string: "😁" });
  assert.equal(result.after, "say 😁 now");
});

test("edit() takes replacement patterns literally", async (t) => {
  const p = await testProject(t);
  const result = await edited(p, "price\n", { old_string: "price", new_string: "$& $1 $$" });
  assert.equal(result.after, "$& $1 $$\n");
});

test("edit() replaces every place on demand, and tells their lines in the new text", async (t) => {
  const p = await testProject(t);
  const result = await edited(p, "x\ny\nx\ny\nx\n", {
    old_string: "x\n",
    new_string: "a\nb\n",
    replace_all: true,
  });
  assert.equal(result.after, "a\nb\ny\na\nb\ny\na\nb\n");
  assert.equal(result.text, 'Edited "file.txt": 3 replacements, lines 1-2, 4-5, 7-8');
});

test("edit() deletes text", async (t) => {
  const p = await testProject(t);
  const result = await edited(p, "one\ntwo\n", { old_string: "one\n", new_string: "" });
  assert.equal(result.after, "two\n");
  assert.equal(result.text, 'Edited "file.txt": 1 replacement, line 1');
});

test("edit() has its own message for each way not to find one place, and leaves the file alone", async (t) => {
  const p = await testProject(t);
  const content =
    "  alpha();\n\tbeta('x');\ngamma(1);\ngamma(2);\ngamma(3);\n“quoted”\nline\\nbreak\n";
  const messages = new Map<string, string>();
  const fails = async (name: string, old_string: string, new_string = "other", start = content) => {
    const result = await edited(p, start, { old_string, new_string });
    assert.equal(result.ok, false, name);
    assert.equal(result.after, start, name);
    messages.set(name, result.text);
    return result.text;
  };
  assert.match(
    await fails("many", "gamma("),
    /old_string occurs 3 times \(lines 3, 4, 5\); add lines around it until it occurs once, or set replace_all$/u,
  );
  assert.match(await fails("overlapping", "aa", "b", "aaa\n"), /occurs 2 times \(lines 1, 1\)/u);
  assert.match(
    await fails("empty", ""),
    /old_string is empty; give the text to replace, or use write/u,
  );
  assert.match(await fails("same", "gamma(1)", "gamma(1)"), /are the same, nothing would change$/u);
  assert.match(
    await fails("indentation", "alpha();\n  beta('x');"),
    /from line 1 on it differs only in white space: " {2}alpha\(\);"$/u,
  );
  assert.match(
    await fails("quotes", '"quoted"'),
    /from line 6 on it differs only in quotation marks/u,
  );
  assert.match(
    await fails("numbers", "3\tgamma(1);\n4\tgamma(2);"),
    /it begins with line numbers/u,
  );
  assert.match(
    await fails("escapes", "gamma(1);\\ngamma(2);"),
    /it would be found without the backslashes/u,
  );
  assert.match(
    await fails("done", "delta(0);", "gamma(2);"),
    /new_string is in the file already, the edit may have been made before$/u,
  );
  assert.match(
    await fails("similar", "gamma(12);\nfoo"),
    /the most similar line is 3: "gamma\(1\);"$/u,
  );
  assert.match(await fails("nothing", "nothing like it"), /old_string is not in the file$/u);
  assert.equal(new Set(messages.values()).size, messages.size);
});

test("edit() needs the file to have been read, and to be as it was", async (t) => {
  const p = await testProject(t);
  const path = await p.file("a.txt", "one\n");
  const change = { path: "a.txt", old_string: "one", new_string: "two" };
  assert.match((await p.call(edit, change)).text, /it exists and was not read in this session/u);
  await p.call(read, { path });
  await writeFile(path, "one\nmore\n");
  assert.match((await p.call(edit, change)).text, /it changed on disk since it was last read/u);
  assert.equal(await readFile(path, "utf8"), "one\nmore\n");
  await p.call(read, { path });
  assert.equal((await p.call(edit, change)).ok, true);
  // Its own change makes no stale view.
  assert.equal((await p.call(edit, { path, old_string: "two", new_string: "three" })).ok, true);
  assert.equal(await readFile(path, "utf8"), "three\nmore\n");
});

test("edit() names the nearest file, or write, for a file that does not exist", async (t) => {
  const p = await testProject(t);
  await p.file("server.ts", "x");
  const said = async (path: string) =>
    (await p.call(edit, { path, old_string: "x", new_string: "y" })).text;
  assert.equal(
    await said("sever.ts"),
    'Cannot edit "sever.ts": no such file; did you mean "server.ts"?',
  );
  assert.equal(
    await said("quite-else.md"),
    'Cannot edit "quite-else.md": no such file; use write to create it',
  );
});

test("edit() refuses directories, binary and damaged text, and read-only files", async (t) => {
  const p = await testProject(t);
  await p.file("nul", "a\0b");
  await p.file(
    "latin.txt",
    Buffer.concat([Buffer.from("caf\n".repeat(9)), Buffer.from([0xe9, 10])]),
  );
  const closed = await p.file("closed.txt", "a");
  await chmod(closed, 0o444);
  const said = async (path: string) => {
    await p.call(read, { path });
    return (await p.call(edit, { path, old_string: "a", new_string: "b" })).text;
  };
  assert.equal(await said("."), 'Cannot edit ".": it is a directory');
  assert.match(await said("nul"), /binary file \(data with NUL bytes, 3 bytes\)$/u);
  assert.match(await said("latin.txt"), /not valid UTF-8; change it with bash \(iconv, sed\)$/u);
  assert.match(await said("closed.txt"), /read-only \(mode 0444\)/u);
});

test("edit() keeps mode bits, follows links and leaves no other file", {
  skip: process.platform === "win32",
}, async (t) => {
  const p = await testProject(t);
  const path = await p.file("run.sh", "echo a\n");
  await chmod(path, 0o755);
  await symlink("run.sh", p.path("link.sh"));
  await p.call(read, { path: "link.sh" });
  await p.call(edit, { path: "link.sh", old_string: "a", new_string: "b" });
  assert.equal((await stat(path)).mode & 0o7777, 0o755);
  assert.equal(await readlink(p.path("link.sh")), "run.sh");
  assert.equal(await readFile(path, "utf8"), "echo b\n");
  assert.deepEqual(await p.names(), ["link.sh", "run.sh"]);
});

test("edit() changes a file of 50 MB and leaves its diff out", async (t) => {
  const p = await testProject(t);
  const path = await p.file("big.txt", "0123456789abcdef\r\n".repeat(2_800_000) + "needle\r\n");
  await p.call(read, { path, limit: 1 });
  const result = await p.call(edit, { path, old_string: "needle\n", new_string: "pin\nend\n" });
  assert.equal(result.text, 'Edited "big.txt": 1 replacement, lines 2800001-2800002');
  assert.deepEqual(result.diffs, []);
  assert.ok((await readFile(path, "latin1")).endsWith("abcdef\r\npin\r\nend\r\n"));
});

test("edit() refuses a file that is too large to change at once", async (t) => {
  const p = await testProject(t);
  const path = await p.file("huge.txt", "x".repeat(65 * 1024 * 1024));
  await p.call(read, { path });
  assert.match(
    (await p.call(edit, { path, old_string: "x", new_string: "y" })).text,
    /it has 68157440 bytes, more than the 67108864 that can be changed at once/u,
  );
});

test("edit() previews the change with its line", async (t) => {
  const p = await testProject(t);
  await p.file("a.txt", "one\ntwo\n");
  const preview = async (old_string: string) => {
    const parsed = edit.parse({ path: "a.txt", old_string, new_string: "2" });
    assert.ok("input" in parsed);
    return await edit.preview(parsed.input, { cwd: p.directory, files: p.context.files });
  };
  assert.deepEqual(await preview("two"), {
    title: "a.txt",
    locations: [{ path: p.path("a.txt"), line: 2 }],
    diffs: [{ path: p.path("a.txt"), oldText: "one\ntwo\n", newText: "one\n2\n" }],
  });
  assert.equal((await preview("missing")).diffs, undefined);
});
