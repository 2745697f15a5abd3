import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { execFileSync } from "node:child_process";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { findOnPath } from "../platform/spawn_group.ts";
import { grepTool } from "./grep_tool.ts";
import { type TestProject, testProject } from "./testing.ts";
import type { Tool } from "./tool.ts";

const grep = grepTool as Tool;
const env = { PATH: process.env["PATH"] ?? "" };
const ripgrep = await findOnPath("rg", env);

/** Runs a test with each engine; both have to give the same result. */
function testBoth(name: string, body: (p: TestProject, t: TestContext) => Promise<void>): void {
  test(`${name}, without ripgrep`, async (t) => {
    await body(await testProject(t, { commandEnv: () => Promise.resolve({ PATH: "" }) }), t);
  });
  test(`${name}, with ripgrep`, {
    skip: ripgrep === undefined && "ripgrep is not installed",
  }, async (t) => {
    await body(await testProject(t, { commandEnv: () => Promise.resolve(env) }), t);
  });
}

async function said(p: TestProject, raw: Record<string, unknown>): Promise<string> {
  return (await p.call(grep, raw)).text;
}

testBoth("grep() prints matches with their numbers below the file's name", async (p) => {
  await p.file("src/b.ts", "one\nneedle two\n\nneedle three\n");
  await p.file("a.txt", "a needle\r\n");
  await p.file("none.txt", "nothing\n");
  assert.equal(
    await said(p, { pattern: "needle" }),
    "a.txt\n1:a needle\n\nsrc/b.ts\n2:needle two\n4:needle three\n[3 matches in 2 files]",
  );
});

testBoth("grep() knows regular expressions, line ends of CRLF files and case", async (p) => {
  await p.file("a.txt", "foo(1)\r\nFoo(22)\r\nbar\r\n");
  assert.equal(
    await said(p, { pattern: String.raw`^foo\(\d+\)$` }),
    "a.txt\n1:foo(1)\n[1 match in 1 file]",
  );
  assert.match(
    await said(p, { pattern: "FOO", ignore_case: true }),
    /^a\.txt\n1:.*\n2:.*\n\[2 matches/u,
  );
  assert.match(await said(p, { pattern: "(?i)foo" }), /\[2 matches in 1 file\]$/u);
  assert.match(await said(p, { pattern: "FOO" }), /^\[nothing matches "FOO" in \.\]$/u);
  assert.match(await said(p, { pattern: "oo(?=\\(22)" }), /^a\.txt\n2:Foo\(22\)\n/u);
});

testBoth(
  "grep() takes a pattern that begins with a dash and one with quotes for what it is",
  async (p) => {
    await p.file("a.txt", "--files\n$(touch x) \"'`\n");
    assert.match(await said(p, { pattern: "--files" }), /^a\.txt\n1:--files\n/u);
    assert.match(await said(p, { pattern: "-e" }), /^\[nothing matches "-e"/u);
    assert.match(await said(p, { pattern: String.raw`\$\(touch x\) "'\`` }), /^a\.txt\n2:/u);
    assert.deepEqual(await p.names(), ["a.txt"]);
  },
);

testBoth("grep() prints context once, however matches overlap", async (p) => {
  await p.file(
    "a.txt",
    Array.from({ length: 20 }, (_, i) => i === 4 || i === 6 || i === 15 ? `hit ${i}` : `l ${i}`)
      .join("\n"),
  );
  assert.equal(
    await said(p, { pattern: "hit", context: 2 }),
    [
      "a.txt",
      ...["3-l 2", "4-l 3", "5:hit 4", "6-l 5", "7:hit 6", "8-l 7", "9-l 8"],
      ...["14-l 13", "15-l 14", "16:hit 15", "17-l 16", "18-l 17"],
      "[3 matches in 1 file]",
    ].join("\n"),
  );
});

testBoth("grep() keeps to one file, to files by name, or leaves some out", async (p) => {
  await p.file("src/a.ts", "needle\n");
  await p.file("src/a.test.ts", "needle\n");
  await p.file("lib/b.js", "needle\n");
  const files = async (raw: Record<string, unknown>) =>
    (await said(p, { pattern: "needle", files_only: true, ...raw })).split("\n").slice(0, -1);
  assert.deepEqual(await files({}), ["lib/b.js", "src/a.test.ts", "src/a.ts"]);
  assert.deepEqual(await files({ glob: "*.ts" }), ["src/a.test.ts", "src/a.ts"]);
  assert.deepEqual(await files({ glob: "*.{ts,js}" }), ["lib/b.js", "src/a.test.ts", "src/a.ts"]);
  assert.deepEqual(await files({ glob: "src/**" }), ["src/a.test.ts", "src/a.ts"]);
  assert.deepEqual(await files({ glob: "!*.test.ts" }), ["lib/b.js", "src/a.ts"]);
  assert.deepEqual(await files({ path: "lib" }), ["lib/b.js"]);
  assert.deepEqual(await files({ path: "src/a.ts" }), ["src/a.ts"]);
  assert.match(await said(p, { pattern: "needle", path: "src/a.ts" }), /^src\/a\.ts\n1:needle\n/u);
  assert.match(
    await said(p, { pattern: "needle", glob: "*.py" }),
    /^\[nothing matches "needle" in \. in files like \*\.py\]$/u,
  );
});

testBoth("grep() skips what glob skips, unless it is named", async (p) => {
  execFileSync("git", ["init", "-q"], { cwd: p.directory });
  for (
    const name of [
      "dist/a",
      ".git/b",
      "node_modules/c",
      "x/node_modules/d",
      ".hidden/e",
      "f.log",
      "g",
    ]
  ) {
    await p.file(name, "needle\n");
  }
  await p.file(".gitignore", "dist\n*.log\n");
  await p.file(".ignore", "g\n");
  const files = async (raw: Record<string, unknown>) =>
    (await said(p, { pattern: "needle", files_only: true, ...raw })).split("\n").slice(0, -1);
  assert.deepEqual(await files({}), [".hidden/e", "g"]);
  assert.deepEqual(await files({ glob: "*.log" }), []);
  assert.deepEqual(await files({ path: "dist" }), ["dist/a"]);
  assert.deepEqual(await files({ path: "node_modules" }), ["node_modules/c"]);
  assert.deepEqual(await files({ path: "f.log" }), ["f.log"]);
});

testBoth("grep() reads UTF-16 and passes over binary files", async (p) => {
  await p.file("wide.txt", Buffer.from("\ufeffein needle\r\n", "utf16le"));
  await p.file("bin.dat", Buffer.concat([Buffer.from([0, 1, 2]), Buffer.from("needle\n")]));
  assert.equal(await said(p, { pattern: "needle" }), "wide.txt\n1:ein needle\n[1 match in 1 file]");
  assert.match(
    await said(p, { pattern: "needle", path: "bin.dat" }),
    /^Cannot search "bin\.dat": it is a binary file \(data with NUL bytes, 10 bytes\)$/u,
  );
});

testBoth("grep() stops at the limit and says that there is more", async (p) => {
  await p.file("a.txt", "needle\n".repeat(300));
  assert.match(
    await said(p, { pattern: "needle" }),
    /\n100:needle\n\[100 matches in 1 file shown, there are more; narrow the search or raise limit\]$/u,
  );
  assert.match(
    await said(p, { pattern: "needle", limit: 3 }),
    /\n3:needle\n\[3 matches in 1 file shown/u,
  );
  assert.match(
    await said(p, { pattern: "needle", limit: 300 }),
    /\n300:needle\n\[300 matches in 1 file\]$/u,
  );
  for (const name of ["b", "c", "d"]) await p.file(name, "needle\n");
  assert.equal(
    await said(p, { pattern: "needle", files_only: true, limit: 2 }),
    "a.txt\nb\n[2 files shown, there are more; narrow the search or raise limit]",
  );
});

testBoth("grep() keeps to the limit of a result and cuts long lines well formed", async (p) => {
  await p.file("min.js", "needle" + "x".repeat(493) + "😀".repeat(5_000_000) + "\n");
  await p.file("z.txt", `needle ${"y".repeat(90)}\n`.repeat(1000));
  const text = (await p.call(grep, { pattern: "needle", limit: 1000 }, { maxOutput: 3000 })).text;
  assert.ok(text.length <= 3000, `${text.length}`);
  assert.ok(text.isWellFormed());
  assert.match(text, /^min\.js\n1:needlex{493} \[line has 10000499 characters\]\n/u);
  assert.match(text, /matches in 2 files shown, there are more/u);
});

testBoth("grep() says what is wrong with a pattern or a path", async (p) => {
  await p.file("src/a.ts", "x\n");
  assert.match(
    await said(p, { pattern: "a(b" }),
    /^Cannot search: pattern is no valid regular expression \(.*Unterminated group\); put a backslash/u,
  );
  assert.equal(await said(p, { pattern: "" }), 'Cannot search: "pattern" is empty');
  assert.match(
    await said(p, { pattern: "a\\nb" }),
    /contains a line break, but lines are matched one by one/u,
  );
  assert.match(await said(p, { pattern: "a\nb" }), /contains a line break/u);
  assert.doesNotMatch(await said(p, { pattern: String.raw`a\\nb` }), /line break/u);
  assert.match(
    await said(p, { pattern: "x", path: "scr" }),
    /^Cannot search "scr": no such file or directory; did you mean "src"\?$/u,
  );
  assert.match(await said(p, { pattern: "function f() {" }), /^\[nothing matches/u);
});

testBoth("grep() never opens a pipe and goes in no circles", async (p) => {
  execFileSync("mkfifo", [p.path("pipe")]);
  await p.file("a.txt", "needle\n");
  await symlink(".", p.path("self"));
  assert.equal(await said(p, { pattern: "needle" }), "a.txt\n1:needle\n[1 match in 1 file]");
  assert.match(
    await said(p, { pattern: "x", path: "pipe" }),
    /it is a named pipe, which is never opened$/u,
  );
});

testBoth("grep() searches 50 MB and 5000 files, and ends at once when cancelled", async (p) => {
  await p.file("big.txt", "0123456789abcdef\n".repeat(3_000_000) + "needle\n");
  await mkdir(p.path("many"));
  for (let from = 0; from < 5000; from += 100) {
    await Promise.all(
      Array.from(
        { length: 100 },
        (_, i) => writeFile(join(p.path("many"), `f${from + i}`), "hay\n"),
      ),
    );
  }
  assert.equal(
    await said(p, { pattern: "needle" }),
    "big.txt\n3000001:needle\n[1 match in 1 file]",
  );
  const controller = new AbortController();
  const reason = new Error("cancelled by the test");
  const pending = p.call(grep, { pattern: "nothing.*like" }, { signal: controller.signal });
  const started = performance.now();
  controller.abort(reason);
  await assert.rejects(pending, (error) => error === reason);
  assert.ok(performance.now() - started < 1000);
});

test("grep() without ripgrep can be cancelled inside an expression that never ends", async (t) => {
  const p = await testProject(t, { commandEnv: () => Promise.resolve({ PATH: "" }) });
  await p.file("a.txt", "a".repeat(60) + "!\n");
  const controller = new AbortController();
  const reason = new Error("cancelled by the test");
  const pending = p.call(grep, { pattern: "(a+)+$" }, { signal: controller.signal });
  const started = performance.now();
  setTimeout(() => controller.abort(reason), 200);
  await assert.rejects(pending, (error) => error === reason);
  assert.ok(performance.now() - started < 3000);
});

test("grep() does not run a ripgrep that lies in the working directory", {
  skip: process.platform === "win32",
}, async (t) => {
  const p = await testProject(t);
  const planted = await p.file("bin/rg", "#!/bin/sh\ntouch planted\n");
  await chmod(planted, 0o755);
  await p.file("a.txt", "needle\n");
  const PATH = [p.path("bin"), "relative/bin"].join(delimiter);
  const result = await p.call(grep, { pattern: "needle" }, {
    commandEnv: () => Promise.resolve({ PATH }),
  });
  assert.equal(result.text, "a.txt\n1:needle\n[1 match in 1 file]");
  assert.deepEqual(await p.names(), ["a.txt", "bin"]);
});

test("grep() searches by itself when ripgrep cannot do its work", {
  skip: process.platform === "win32",
}, async (t) => {
  const p = await testProject(t);
  const other = await testProject(t);
  await chmod(await other.file("rg", "#!/bin/sh\necho broken >&2\nexit 9\n"), 0o755);
  await p.file("a.txt", "needle\n");
  const result = await p.call(grep, { pattern: "needle" }, {
    commandEnv: () => Promise.resolve({ PATH: other.directory }),
  });
  assert.equal(result.text, "a.txt\n1:needle\n[1 match in 1 file]");
});
