import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { globTool } from "./glob_tool.ts";
import { type TestProject, testProject } from "./testing.ts";
import type { Tool } from "./tool.ts";

const glob = globTool as Tool;

/** Writes files whose ages are in the order given, the oldest first. */
async function files(p: TestProject, names: readonly string[]): Promise<void> {
  for (const [index, name] of names.entries()) {
    const time = new Date(1_700_000_000_000 + index * 1000);
    await utimes(await p.file(name, "x"), time, time);
  }
}

async function found(p: TestProject, pattern: string, path?: string): Promise<string[]> {
  const result = await p.call(glob, { pattern, path });
  assert.equal(result.ok, true, result.text);
  return result.text.startsWith("[no file") ? [] : result.text.split("\n");
}

test("glob() finds by name at any depth, newest first, hidden files included", async (t) => {
  const p = await testProject(t);
  await files(p, ["a.ts", "src/b.ts", "src/deep/c.ts", ".github/d.ts", "src/e.js"]);
  assert.deepEqual(await found(p, "*.ts"), [".github/d.ts", "src/deep/c.ts", "src/b.ts", "a.ts"]);
  assert.deepEqual(await found(p, "**/*.ts"), [
    ".github/d.ts",
    "src/deep/c.ts",
    "src/b.ts",
    "a.ts",
  ]);
  assert.deepEqual(await found(p, "*.{js,jsx}"), ["src/e.js"]);
});

test("glob() finds by path when the pattern has a slash", async (t) => {
  const p = await testProject(t);
  await files(p, ["a.ts", "src/b.ts", "src/deep/c.ts", "lib/d.ts"]);
  assert.deepEqual(await found(p, "src/*.ts"), ["src/b.ts"]);
  assert.deepEqual(await found(p, "./src/**/*.ts"), ["src/deep/c.ts", "src/b.ts"]);
  assert.deepEqual(await found(p, "{src,lib}/*.ts"), ["lib/d.ts", "src/b.ts"]);
  assert.deepEqual(await found(p, "src/"), ["src/deep/c.ts", "src/b.ts"]);
  assert.deepEqual(await found(p, "src/b.ts"), ["src/b.ts"]);
  assert.deepEqual(await found(p, `${p.directory}/lib/*`), ["lib/d.ts"]);
  assert.deepEqual(await found(p, "*.ts", "src"), ["src/deep/c.ts", "src/b.ts"]);
  assert.deepEqual(await found(p, "../lib/*.ts", "src"), ["lib/d.ts"]);
});

test("glob() finds files whose names look like patterns", async (t) => {
  const p = await testProject(t);
  await files(p, ["app/[id]/page.tsx", "app/(group)/page.tsx", "a b/{x}.ts"]);
  assert.deepEqual(await found(p, "app/[id]/page.tsx"), ["app/[id]/page.tsx"]);
  assert.deepEqual(await found(p, "app/(group)/*.tsx"), ["app/(group)/page.tsx"]);
  assert.deepEqual(await found(p, "{x}.ts"), ["a b/{x}.ts"]);
});

test("glob() leaves out what .gitignore files name, the nearest deciding", async (t) => {
  const p = await testProject(t);
  await files(p, ["a.log", "keep.log", "dist/x.ts", "src/a.ts", "src/gen/b.ts", "src/gen/keep.ts"]);
  await p.file(".gitignore", "*.log\n!keep.log\ndist/\n");
  await p.file("src/.gitignore", "/gen/*\n!gen/keep.ts\n");
  assert.deepEqual(await found(p, "*.log"), ["keep.log"]);
  assert.deepEqual(await found(p, "*.ts"), ["src/gen/keep.ts", "src/a.ts"]);
});

test("glob() applies the rules of the repository above, but not to a directory named on purpose", async (t) => {
  const p = await testProject(t);
  execFileSync("git", ["init", "-q"], { cwd: p.directory });
  await files(p, ["packages/one/a.tmp", "packages/one/b.ts", "dist/deep/c.ts"]);
  await p.file(".gitignore", "*.tmp\ndist\n");
  assert.deepEqual(await found(p, "*", "packages/one"), ["packages/one/b.ts"]);
  assert.deepEqual(await found(p, "*.ts", "dist/deep"), ["dist/deep/c.ts"]);
  assert.deepEqual(await found(p, "dist/**/*.ts"), ["dist/deep/c.ts"]);
});

test("glob() enters .git and node_modules only when they are named", async (t) => {
  const p = await testProject(t);
  await files(p, ["node_modules/m/a.ts", ".git/b.ts", "x/node_modules/c.ts", "d.ts"]);
  assert.deepEqual(await found(p, "*.ts"), ["d.ts"]);
  assert.deepEqual(await found(p, "node_modules/m/*.ts"), ["node_modules/m/a.ts"]);
});

test("glob() lists links to files and follows none to directories", async (t) => {
  const p = await testProject(t);
  await files(p, ["src/a.ts"]);
  await symlink("a.ts", p.path("src/b.ts"));
  await symlink("..", p.path("src/up"));
  await symlink("nowhere", p.path("src/c.ts"));
  assert.deepEqual((await found(p, "*.ts")).sort(), ["src/a.ts", "src/b.ts"]);
});

test("glob() says that nothing matches, where, and has words for wrong arguments", async (t) => {
  const p = await testProject(t);
  await files(p, ["src/a.ts"]);
  const said = async (pattern: string, path?: string) =>
    (await p.call(glob, { pattern, path })).text;
  assert.equal(await said("*.rs"), '[no file matches "*.rs" in .]');
  assert.equal(await said("nowhere/*.rs"), '[no file matches "nowhere/*.rs" in .]');
  assert.equal(await said(" "), 'Cannot use "pattern": it is empty');
  assert.match(await said("!*.ts"), /says what to find, not what to leave out$/u);
  assert.match(await said("a".repeat(2000)), /it has 2000 characters, at most 1000 are allowed$/u);
  assert.equal(
    await said("*", "srcs"),
    'Cannot search "srcs": no such file or directory; did you mean "src"?',
  );
  assert.equal(
    await said("*", "src/a.ts"),
    'Cannot search "src/a.ts": it is a file, not a directory',
  );
});

test("glob() refuses patterns that take beyond measure, and is quick with the rest", async (t) => {
  const p = await testProject(t);
  await files(p, ["a".repeat(100), "x/y/z/+(+(a))b"]);
  const said = async (pattern: string) => (await p.call(glob, { pattern })).text;
  assert.match(
    await said("*a".repeat(12) + "b"),
    /it has more than 4 "\*" in one part of the path/u,
  );
  assert.match(await said("**/a/".repeat(5) + "b"), /it has more than 4 "\*\*"; leave some out$/u);
  const started = performance.now();
  assert.match(await said("*a*a*a*ab"), /^\[no file matches/u);
  assert.match(await said("**/**/**/**/ab"), /^\[no file matches/u);
  assert.deepEqual(await found(p, "+(+(a))b"), ["x/y/z/+(+(a))b"]);
  assert.ok(performance.now() - started < 5000);
});

test("glob() shows names that would break a line as JSON", {
  skip: process.platform === "win32",
}, async (t) => {
  const p = await testProject(t);
  await files(p, ["a\nb.ts"]);
  assert.deepEqual(await found(p, "*.ts"), ['"a\\nb.ts"']);
});

test("glob() shows a part of very many files, says how many there are, and can be cancelled", async (t) => {
  const p = await testProject(t);
  const names = Array.from({ length: 14 }, (_, i) => `d${String(i).padStart(2, "0")}`);
  for (const name of names) {
    await mkdir(p.path(name));
    const some = Array.from({ length: 800 }, (_, i) => join(p.path(name), `f${i}.ts`));
    for (let from = 0; from < some.length; from += 100) {
      await Promise.all(some.slice(from, from + 100).map((path) => writeFile(path, "")));
    }
  }
  const all = await p.call(glob, { pattern: "*.ts" });
  assert.ok(all.text.length <= 20_000);
  assert.match(
    all.text,
    /\n\[500 of 11200 files shown, by name; narrow the pattern to see others\]$/u,
  );
  const some = await p.call(glob, { pattern: "d0*/*.ts" }, { maxOutput: 1000 });
  assert.ok(some.text.length <= 1000);
  assert.match(some.text, /\n\[\d+ of 8000 files shown, newest first; narrow the pattern/u);

  const controller = new AbortController();
  const reason = new Error("cancelled by the test");
  const pending = p.call(glob, { pattern: "*.ts" }, { signal: controller.signal });
  const started = performance.now();
  setTimeout(() => controller.abort(reason), 5);
  await assert.rejects(pending, (error) => error === reason);
  assert.ok(performance.now() - started < 1000);
});
