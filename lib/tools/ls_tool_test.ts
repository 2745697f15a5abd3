import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import process from "node:process";
import { test } from "node:test";
import { lsTool } from "./ls_tool.ts";
import { testProject } from "./testing.ts";
import type { Tool } from "./tool.ts";

const ls = lsTool as Tool;

test("ls() lists directories first, hidden files too, and files with sizes", async (t) => {
  const p = await testProject(t);
  await mkdir(p.path("src"));
  await mkdir(p.path(".git"));
  await p.file("a.txt", "x".repeat(10));
  await p.file(".env", "");
  await p.file("big.bin", "x".repeat(1536));
  await symlink("a.txt", p.path("link"));
  const expected = ".git/\nsrc/\n.env 0 B\na.txt 10 B\nbig.bin 1.5 KB\nlink -> a.txt";
  assert.equal((await p.call(ls, {})).text, expected);
  assert.equal((await p.call(ls, { path: "" })).text, expected);
  assert.equal((await p.call(ls, { path: "./" })).text, expected);
  assert.equal((await p.call(ls, { path: "src" })).text, "[src is empty]");
});

test("ls() names special files and quotes names that would break a line", {
  skip: process.platform === "win32",
}, async (t) => {
  const p = await testProject(t);
  execFileSync("mkfifo", [p.path("pipe")]);
  await p.file("a\nb", "");
  assert.equal((await p.call(ls, {})).text, '"a\\nb" 0 B\npipe (named pipe)');
});

test("ls() shows a part of a very large directory and says how much there is", async (t) => {
  const p = await testProject(t);
  await mkdir(p.path("zdir"));
  for (let from = 0; from < 3000; from += 100) {
    await Promise.all(
      Array.from({ length: 100 }, (_, i) => writeFile(p.path(`f${from + i}`), "")),
    );
  }
  const { text } = await p.call(ls, {});
  assert.match(text, /^zdir\/\nf0 0 B\n/u);
  assert.match(
    text,
    /\n\[500 of 3001 entries shown \(1 directory in all\); use glob for the others\]$/u,
  );
  const small = await p.call(ls, {}, { maxOutput: 500 });
  assert.ok(small.text.length <= 500);
  assert.match(small.text, /\[\d+ of 3001 entries shown/u);
});

test("ls() says what is there instead of a directory", async (t) => {
  const p = await testProject(t);
  await p.file("file.txt", "x");
  const said = async (path: string) => (await p.call(ls, { path })).text;
  assert.equal(await said("file.txt"), 'Cannot list "file.txt": it is a file, not a directory');
  assert.equal(
    await said("fil.txt"),
    'Cannot list "fil.txt": no such file or directory; did you mean "file.txt"?',
  );
});
