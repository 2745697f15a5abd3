import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { execFileSync } from "node:child_process";
import { chmod, mkdir, stat, symlink } from "node:fs/promises";
import { homedir } from "node:os";
import { test } from "node:test";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { readTool } from "./read_tool.ts";
import { testProject } from "./testing.ts";
import type { Tool } from "./tool.ts";

const read = readTool as Tool;

test("read() numbers the lines and says nothing more of a file shown whole", async (t) => {
  const p = await testProject(t);
  await p.file("a.txt", "one\ntwo\n\nfour\n");
  const result = await p.call(read, { path: "a.txt" });
  assert.equal(result.text, "1\tone\n2\ttwo\n3\t\n4\tfour");
  assert.equal(result.ok, true);
  assert.deepEqual(result.locations, [{ path: p.path("a.txt"), line: 1 }]);
});

test("read() shows CRLF lines without their ends and a BOM not at all", async (t) => {
  const p = await testProject(t);
  await p.file("a.txt", "\ufeffone\r\ntwo\r\n");
  assert.equal((await p.call(read, { path: "a.txt" })).text, "1\tone\n2\ttwo");
});

test("read() says which lines were shown and how to read on", async (t) => {
  const p = await testProject(t);
  await p.file("a.txt", Array.from({ length: 2500 }, (_, i) => `line ${i + 1}`).join("\n"));
  const first = await p.call(read, { path: "a.txt" }, { maxOutput: 100_000 });
  assert.match(first.text, /^1\tline 1\n/u);
  assert.match(
    first.text,
    /\n2000\tline 2000\n\[lines 1-2000 of 2500; read on with offset 2001\]$/u,
  );
  const rest = await p.call(read, { path: "a.txt", offset: 2001 }, { maxOutput: 100_000 });
  assert.match(rest.text, /^2001\tline 2001\n/u);
  assert.match(rest.text, /\n\[lines 2001-2500 of 2500\]$/u);
  const few = await p.call(read, { path: "a.txt", offset: 10, limit: 2 });
  assert.equal(few.text, "10\tline 10\n11\tline 11\n[lines 10-11 of 2500; read on with offset 12]");
});

test("read() ends at a whole line when the limit of a result is met", async (t) => {
  const p = await testProject(t);
  await p.file(
    "a.txt",
    Array.from({ length: 300 }, (_, i) => `${i} ${"é😀".repeat(20)}`).join("\n"),
  );
  const result = await p.call(read, { path: "a.txt" }, { maxOutput: 5000 });
  assert.ok(result.text.length <= 5000);
  const shown = /\[lines 1-(\d+) of 300; read on with offset (\d+)\]$/u.exec(result.text);
  assert.ok(shown);
  assert.equal(Number(shown[2]), Number(shown[1]) + 1);
  assert.ok(result.text.isWellFormed());
});

test("read() cuts a long line at a whole character and says how long it is", async (t) => {
  const p = await testProject(t);
  await p.file("a.txt", "x".repeat(1999) + "😀".repeat(4000) + "\nshort\n");
  const result = await p.call(read, { path: "a.txt" });
  assert.ok(result.text.isWellFormed());
  assert.match(
    result.text,
    /\n2\tshort\n\[line 1 has 9999 characters, the first 1999 are shown\]$/u,
  );
});

test("read() says that an offset is behind the end, and how many lines there are", async (t) => {
  const p = await testProject(t);
  await p.file("a.txt", "one\n");
  const result = await p.call(read, { path: "a.txt", offset: 7 });
  assert.deepEqual(result, { ok: false, text: 'Cannot read "a.txt" from line 7: it has 1 line' });
});

test("read() says that a file is empty", async (t) => {
  const p = await testProject(t);
  await p.file("a.txt", "");
  assert.equal((await p.call(read, { path: "a.txt" })).text, "[a.txt is empty]");
});

test("read() takes CJK text whose character is cut by the sniff window for text", async (t) => {
  const p = await testProject(t);
  for (const shift of [0, 1, 2]) {
    await p.file("cjk.txt", "a".repeat(shift) + "漢字".repeat(4000));
    const result = await p.call(read, { path: "cjk.txt" });
    assert.match(result.text, /漢字/u);
    assert.ok(!result.text.includes("\ufffd"), `shift ${shift}`);
  }
});

test("read() tells binary files by size and type instead of showing them", async (t) => {
  const p = await testProject(t);
  await p.file("a.png", new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0]));
  await p.file("nul.dat", "text with a \0 in it");
  await p.file("latin.dat", new Uint8Array(500).fill(0xe9));
  await p.file("wide.txt", new Uint8Array([...Buffer.from("wide text", "utf16le")]));
  const said = async (path: string) => (await p.call(read, { path })).text;
  assert.equal(
    await said("a.png"),
    'Cannot read "a.png" as text: it is a binary file (PNG image, 10 bytes)',
  );
  assert.match(await said("nul.dat"), /data with NUL bytes, 19 bytes/u);
  assert.match(await said("latin.dat"), /not text in UTF-8, 500 bytes/u);
  assert.match(await said("wide.txt"), /UTF-16 text without a byte order mark, 18 bytes/u);
});

test("read() decodes UTF-16 with a byte order mark", async (t) => {
  const p = await testProject(t);
  const little = Buffer.from("\ufeffgrüße 😀\r\nzwei\r\n", "utf16le");
  await p.file("le.txt", little);
  await p.file("be.txt", Buffer.from(little).swap16());
  for (const path of ["le.txt", "be.txt"]) {
    assert.equal((await p.call(read, { path })).text, "1\tgrüße 😀\n2\tzwei");
  }
});

test("read() shows text with some invalid bytes and says so", async (t) => {
  const p = await testProject(t);
  await p.file(
    "a.txt",
    Buffer.concat([Buffer.from("caf"), Buffer.from([0xe9]), Buffer.from(" au lait\n")]),
  );
  assert.equal(
    (await p.call(read, { path: "a.txt" })).text,
    "1\tcaf\ufffd au lait\n[bytes that are not valid UTF-8 are shown as \ufffd]",
  );
});

test("read() says nothing of invalid bytes when the file itself holds U+FFFD across chunks", async (t) => {
  const p = await testProject(t);
  await p.file("a.txt", "x" + "\ufffd".repeat(100_000));
  assert.ok(!(await p.call(read, { path: "a.txt" })).text.includes("not valid"));
});

test("read() names the nearest file when there is none", async (t) => {
  const p = await testProject(t);
  await p.file("src/parser.ts", "x\n");
  const said = async (path: string) => (await p.call(read, { path })).text;
  assert.equal(
    await said("src/praser.ts"),
    'Cannot read "src/praser.ts": no such file; did you mean "src/parser.ts"?',
  );
  assert.match(await said("src/parser.js"), /did you mean "src\/parser\.ts"\?$/u);
  assert.match(await said("SRC/parser.ts"), /of its path only "\." exists$/u);
  assert.match(await said("src/deep/er/x.ts"), /of its path only "src" exists$/u);
  assert.match(await said("/src/parser.ts"), /did you mean "src\/parser\.ts"\?$/u);
  assert.equal(await said("src/quite-another"), 'Cannot read "src/quite-another": no such file');
});

test("read() sends from a directory to ls", async (t) => {
  const p = await testProject(t);
  await mkdir(p.path("src"));
  for (const path of ["src", "src/", "."]) {
    assert.match((await p.call(read, { path })).text, /: it is a directory; use ls or glob$/u);
  }
});

test("read() understands paths in quotes, with white space, as file:// and from the home directory", async (t) => {
  const p = await testProject(t);
  const path = await p.file("with space.txt", "found\n");
  const forms = [
    '"with space.txt"',
    " with space.txt\n",
    "`with space.txt`",
    pathToFileURL(path).href,
    path,
  ];
  for (const form of forms) {
    assert.equal((await p.call(read, { path: form })).text, "1\tfound", form);
  }
  assert.equal(
    (await p.call(read, { path: "~/no-such-file-of-mm" })).text.split(":")[0],
    `Cannot read "${homedir()}/no-such-file-of-mm"`,
  );
});

test("read() has its own words for what is no path here", async (t) => {
  const p = await testProject(t);
  const said = async (path: string) => (await p.call(read, { path })).text;
  assert.equal(await said("  "), 'Cannot use "path": it is empty');
  assert.match(await said("a\0b"), /NUL character$/u);
  assert.match(await said("file://host/x"), /it is no address of a local file/u);
  if (process.platform !== "win32") {
    assert.match(await said("C:\\Users\\x.ts"), /it is a Windows path and this system is/u);
  }
});

test("read() never opens a pipe or a device", { skip: process.platform === "win32" }, async (t) => {
  const p = await testProject(t);
  execFileSync("mkfifo", [p.path("pipe")]);
  await symlink("pipe", p.path("link"));
  const said = async (path: string) => (await p.call(read, { path })).text;
  assert.equal(await said("pipe"), 'Cannot read "pipe": it is a named pipe, which is never opened');
  assert.match(await said("link"), /it is a named pipe/u);
  assert.match(await said("/dev/zero"), /it is a device/u);
});

test("read() says why a file cannot be read", {
  skip: process.getuid?.() === 0 && "root can read every file",
}, async (t) => {
  const p = await testProject(t);
  await chmod(await p.file("a.txt", "x"), 0);
  assert.equal(
    (await p.call(read, { path: "a.txt" })).text,
    'Cannot read "a.txt": permission denied',
  );
});

test("read() says that a path goes through a file or a loop of links", async (t) => {
  const p = await testProject(t);
  await p.file("a.txt", "x");
  await symlink("loop", p.path("loop"));
  assert.match(
    (await p.call(read, { path: "a.txt/b" })).text,
    /a part of the path is not a directory$/u,
  );
  assert.match((await p.call(read, { path: "loop" })).text, /a loop of symbolic links$/u);
});

test("read() of the end of 50 MB counts all lines", async (t) => {
  const p = await testProject(t);
  await p.file("big.txt", `${"0123456789".repeat(5)}\n`.repeat(1_000_000));
  const result = await p.call(read, { path: "big.txt", offset: 999_999 });
  assert.match(
    result.text,
    /^999999\t0123.*\n1000000\t0123.*\n\[lines 999999-1000000 of 1000000\]$/u,
  );
});

test("read() takes a file into memory piece by piece", async (t) => {
  const p = await testProject(t);
  const program = await p.file(
    "read.ts",
    `import { readTool } from ${JSON.stringify(new URL("read_tool.ts", import.meta.url).href)};
    import { FileViews } from ${JSON.stringify(new URL("file_views.ts", import.meta.url).href)};
    const context = {
      cwd: ${JSON.stringify(p.directory)},
      signal: new AbortController().signal,
      maxOutput: 20_000,
      files: new FileViews(),
    };
    const result = await readTool.run({ path: "big.txt", limit: 1 }, context as never);
    console.log(result.text);`,
  );
  const config = fileURLToPath(new URL("../../deno.json", import.meta.url));
  await p.file("big.txt", `${"0123456789".repeat(10)}\n`.repeat(1_500_000));
  // The heap is smaller than the file.
  const flags = [
    "run",
    "-A",
    "--no-check",
    "--config",
    config,
    "--v8-flags=--max-old-space-size=64",
  ];
  const said = execFileSync(process.execPath, [...flags, program], { encoding: "utf8" });
  assert.match(said, /\[lines 1-1 of 1500000; read on with offset 2\]/u);
});

test("read() of one line of 50 MB keeps only its beginning", async (t) => {
  const p = await testProject(t);
  await p.file("line.json", "x".repeat(50_000_000));
  const result = await p.call(read, { path: "line.json" });
  assert.match(result.text, /\[line 1 has 50000000 characters, the first 2000 are shown\]$/u);
});

test("read() ends with the signal's reason", async (t) => {
  const p = await testProject(t);
  await p.file("a.txt", "x\n".repeat(1000));
  const reason = new Error("cancelled by the test");
  await assert.rejects(
    p.call(read, { path: "a.txt" }, { signal: AbortSignal.abort(reason) }),
    (error) => error === reason,
  );
});

test("read() notes what the session has seen, under the real path", async (t) => {
  const p = await testProject(t);
  const path = await p.file("a.txt", "x\n");
  await symlink("a.txt", p.path("link.txt"));
  assert.equal(p.context.files.state(path, await stat(path)), "unseen");
  await p.call(read, { path: "link.txt" });
  assert.equal(p.context.files.state(path, await stat(path)), "current");
});
