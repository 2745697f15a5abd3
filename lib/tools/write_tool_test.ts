import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { execFileSync } from "node:child_process";
import {
  chmod,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import process from "node:process";
import { test } from "node:test";
import { readTool } from "./read_tool.ts";
import { testProject } from "./testing.ts";
import type { Tool } from "./tool.ts";
import { writeTool } from "./write_tool.ts";

const read = readTool as Tool;
const write = writeTool as Tool;
const isRoot = process.getuid?.() === 0;

test("write() makes a file and the directories above it", async (t) => {
  const p = await testProject(t);
  const result = await p.call(write, { path: "a/b/c.txt", content: "one\ntwo\n" });
  assert.equal(result.text, 'Created "a/b/c.txt" (2 lines, 8 bytes)');
  assert.equal(await readFile(p.path("a/b/c.txt"), "utf8"), "one\ntwo\n");
  assert.deepEqual(result.diffs, [{
    path: p.path("a/b/c.txt"),
    oldText: null,
    newText: "one\ntwo\n",
  }]);
  assert.deepEqual(await readdir(p.path("a/b")), ["c.txt"]);
});

test("write() gives a new file the mode every new file gets", async (t) => {
  const p = await testProject(t);
  await p.call(write, { path: "a.txt", content: "x" });
  await p.file("b.txt", "x");
  assert.equal((await stat(p.path("a.txt"))).mode, (await stat(p.path("b.txt"))).mode);
});

test("write() refuses a file that was not read, and takes it once it was", async (t) => {
  const p = await testProject(t);
  await p.file("a.txt", "old\n");
  const refused = await p.call(write, { path: "a.txt", content: "new\n" });
  assert.equal(
    refused.text,
    'Cannot write "a.txt": it exists and was not read in this session; read it first',
  );
  assert.equal(refused.ok, false);
  assert.equal(await readFile(p.path("a.txt"), "utf8"), "old\n");
  await p.call(read, { path: "a.txt" });
  assert.equal(
    (await p.call(write, { path: "a.txt", content: "new\n" })).text,
    'Wrote "a.txt" (1 line, 4 bytes)',
  );
  // What was written is known; no second read is needed.
  assert.equal((await p.call(write, { path: "a.txt", content: "newer\n" })).ok, true);
  assert.equal(await readFile(p.path("a.txt"), "utf8"), "newer\n");
});

test("write() refuses a file that changed since it was read", async (t) => {
  const p = await testProject(t);
  const path = await p.file("a.txt", "old\n");
  await p.call(read, { path: "a.txt" });
  await writeFile(path, "theirs\n");
  const refused = await p.call(write, { path: "a.txt", content: "mine\n" });
  assert.equal(
    refused.text,
    'Cannot write "a.txt": it changed on disk since it was last read; read it again',
  );
  assert.equal(await readFile(path, "utf8"), "theirs\n");
});

test("write() notices a change that left size and time as they were", async (t) => {
  const p = await testProject(t);
  const path = await p.file("a.txt", "mine!\n");
  const time = new Date(1_700_000_000_000);
  await utimes(path, time, time);
  await p.call(read, { path: "a.txt" });
  await writeFile(path, "yours\n");
  await utimes(path, time, time);
  assert.match((await p.call(write, { path: "a.txt", content: "x" })).text, /changed on disk/u);
});

test("write() does not mind that a file was touched", async (t) => {
  const p = await testProject(t);
  const path = await p.file("a.txt", "same\n");
  await p.call(read, { path: "a.txt" });
  await utimes(path, new Date(), new Date(1_700_000_000_000));
  assert.equal((await p.call(write, { path: "a.txt", content: "x" })).ok, true);
});

test("write() keeps mode bits", { skip: process.platform === "win32" }, async (t) => {
  const p = await testProject(t);
  const path = await p.file("run.sh", "#!/bin/sh\n");
  await chmod(path, 0o4751);
  await p.call(read, { path: "run.sh" });
  await p.call(write, { path: "run.sh", content: "#!/bin/sh\necho\n" });
  assert.equal((await stat(path)).mode & 0o7777, 0o4751);
});

test("write() keeps the owner where that is permitted", {
  skip: !isRoot && "only root can give files away",
}, async (t) => {
  const p = await testProject(t);
  const path = await p.file("a.txt", "x");
  execFileSync("chown", ["12345:23456", path]);
  await p.call(read, { path });
  await p.call(write, { path, content: "y" });
  const { uid, gid } = await stat(path);
  assert.deepEqual([uid, gid], [12345, 23456]);
});

test("write() keeps CRLF line endings, byte order mark and encoding of a file", async (t) => {
  const p = await testProject(t);
  await p.file("a.txt", "\ufeffone\r\ntwo\r\n");
  await p.file("b.txt", Buffer.from("\ufeffone\r\ntwo\r\n", "utf16le"));
  for (const path of ["a.txt", "b.txt"]) {
    await p.call(read, { path });
    const result = await p.call(write, { path, content: "eins\nzwei\n" });
    assert.match(result.text, /CRLF line endings kept\)$/u);
  }
  assert.equal(await readFile(p.path("a.txt"), "utf8"), "\ufeffeins\r\nzwei\r\n");
  assert.equal(await readFile(p.path("b.txt"), "utf16le"), "\ufeffeins\r\nzwei\r\n");
});

test("write() leaves a file alone that has the content already", async (t) => {
  const p = await testProject(t);
  const path = await p.file("a.txt", "same\n");
  const before = await stat(path);
  await p.call(read, { path });
  const result = await p.call(write, { path, content: "same\n" });
  assert.equal(result.text, '"a.txt" has this content already; left as it is');
  assert.equal((await stat(path)).ino, before.ino);
});

test("write() writes what a link points to, also when that does not exist yet", async (t) => {
  const p = await testProject(t);
  await p.file("real.txt", "old");
  await symlink("real.txt", p.path("link.txt"));
  await symlink("later/new.txt", p.path("dangling.txt"));
  await p.call(read, { path: "link.txt" });
  await p.call(write, { path: "link.txt", content: "new" });
  await p.call(write, { path: "dangling.txt", content: "born" });
  assert.equal(await readlink(p.path("link.txt")), "real.txt");
  assert.equal(await readFile(p.path("real.txt"), "utf8"), "new");
  assert.equal(await readlink(p.path("dangling.txt")), "later/new.txt");
  assert.equal(await readFile(p.path("later/new.txt"), "utf8"), "born");
});

test("write() has its own words for what cannot be written", async (t) => {
  const p = await testProject(t);
  await mkdir(p.path("dir"));
  await p.file("file", "x");
  await p.file("image.png", new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]));
  await symlink("loop", p.path("loop"));
  const said = async (path: string) => {
    const result = await p.call(write, { path, content: "y" });
    assert.equal(result.ok, false);
    return result.text;
  };
  assert.equal(await said("dir"), 'Cannot write "dir": it is a directory');
  assert.match(await said("new/"), /a path with a slash at its end names a directory$/u);
  assert.match(await said("file/x"), /a part of the path is not a directory$/u);
  assert.match(await said("loop"), /loop of symbolic links$/u);
  assert.match(await said("image.png"), /it is a binary file \(PNG image, 8 bytes\)$/u);
  assert.match(await said("x".repeat(300)), /the name is too long$/u);
  assert.deepEqual(await p.names(), ["dir", "file", "image.png", "loop"]);
});

test(
  "write() never opens a pipe or a device",
  { skip: process.platform === "win32" },
  async (t) => {
    const p = await testProject(t);
    execFileSync("mkfifo", [p.path("pipe")]);
    const said = async (path: string) => (await p.call(write, { path, content: "y" })).text;
    assert.match(await said("pipe"), /it is a named pipe, which is never opened$/u);
    assert.match(await said("/dev/null"), /it is a device, which is never opened$/u);
    assert.ok((await lstat(p.path("pipe"))).isFIFO());
  },
);

test("write() refuses a read-only file, also as root", async (t) => {
  const p = await testProject(t);
  const path = await p.file("a.txt", "x");
  await chmod(path, 0o444);
  await p.call(read, { path });
  assert.equal(
    (await p.call(write, { path, content: "y" })).text,
    'Cannot write "a.txt": it is read-only (mode 0444); make it writable first if that is meant',
  );
  assert.equal(await readFile(path, "utf8"), "x");
});

test("write() says why a directory takes no file", {
  skip: isRoot && "root can write everywhere",
}, async (t) => {
  const p = await testProject(t);
  await mkdir(p.path("closed"), { mode: 0o500 });
  assert.equal(
    (await p.call(write, { path: "closed/a.txt", content: "y" })).text,
    'Cannot write "closed/a.txt": permission denied',
  );
});

test("write() leaves nothing behind when it fails or is cancelled", async (t) => {
  const p = await testProject(t);
  const path = await p.file("a.txt", "old");
  await p.call(read, { path });
  const controller = new AbortController();
  const reason = new Error("cancelled by the test");
  const pending = p.call(write, { path, content: "new ".repeat(3_000_000) }, {
    signal: controller.signal,
  });
  controller.abort(reason);
  await assert.rejects(pending, (error) => error === reason);
  assert.deepEqual(await p.names(), ["a.txt"]);
  assert.equal(await readFile(path, "utf8"), "old");
});

test("write() replaces lone surrogates, which no file can hold", async (t) => {
  const p = await testProject(t);
  await p.call(write, { path: "a.txt", content: "x\ud800y" });
  assert.equal(await readFile(p.path("a.txt"), "utf8"), "x\ufffdy");
});

test("write() previews the change it would make", async (t) => {
  const p = await testProject(t);
  await p.file("a.txt", "old\r\n");
  const preview = async (raw: unknown) => {
    const parsed = write.parse(raw);
    assert.ok("input" in parsed);
    return await write.preview(parsed.input, { cwd: p.directory, files: p.context.files });
  };
  assert.deepEqual(await preview({ path: "a.txt", content: "new\n" }), {
    title: "a.txt",
    locations: [{ path: p.path("a.txt") }],
    diffs: [{ path: p.path("a.txt"), oldText: "old\r\n", newText: "new\r\n" }],
  });
  assert.deepEqual((await preview({ path: "n.txt", content: "n" })).diffs, [
    { path: p.path("n.txt"), oldText: null, newText: "n" },
  ]);
  assert.deepEqual((await preview({ path: "n.txt", content: "n".repeat(300_000) })).diffs, []);
  assert.equal((await preview({ path: ".", content: "n" })).diffs, undefined);
  assert.deepEqual(await preview({ path: "", content: "n" }), { title: "write" });
  assert.deepEqual(await p.names(), ["a.txt"]);
});
