/**
 * The install script, on real files and over real HTTP. The release it installs from holds a small
 * script instead of the executable: what is tested here is the installing.
 *
 * @module
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmod, cp, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { delimiter, join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { ROOT } from "../scripts/checks/repository.ts";
import { COMPLETION_FILES, hostTarget } from "../scripts/release.ts";
import { sha256Of, SUMS_FILE, sumsText } from "../scripts/release/checksums.ts";
import { tar } from "../scripts/release/tar.ts";
import type { RunResult } from "./support/mm.ts";
import { type TestProject, withProject } from "./support/project.ts";

const SCRIPT = join(ROOT, "packaging", "install.sh");

/** What the script runs besides the shell's own words; a test leaves one of them out. */
const TOOLS = ["cat", "chmod", "cp", "curl", "cut", "grep", "gzip", "ldd", "mkdir", "mktemp", "mv"];
const MORE_TOOLS = ["rm", "sh", "sha256sum", "shasum", "sysctl", "tar", "uname"];

const target = hostTarget();
const options = {
  skip: process.platform === "win32" || target === undefined
    ? "the script is for the systems that mm has an executable for, Windows excepted"
    : false,
};

/** Writes a release whose mm prints `version`; returns its directory. */
async function writeRelease(p: TestProject, version: string): Promise<string> {
  const directory = join(p.home, `release ${version}`);
  await mkdir(directory, { recursive: true });
  const text = (name: string, content: string, executable = false) => ({
    name,
    content: new TextEncoder().encode(content),
    executable,
  });
  const archive = `mm-${target?.name}.tar.gz`;
  await writeFile(
    join(directory, archive),
    gzipSync(tar([
      text("mm", `#!/bin/sh\necho "mm ${version} (test)"\n`, true),
      text("share/man/man1/mm.1", ".TH MM 1\n"),
      ...Object.values(COMPLETION_FILES).map((name) => text(name, "# completions\n")),
    ])),
  );
  const sum = await sha256Of(join(directory, archive));
  await writeFile(join(directory, SUMS_FILE), sumsText(new Map([[archive, sum]])));
  return directory;
}

/** Runs the script to its end. */
function install(
  p: TestProject,
  env: Readonly<Record<string, string>>,
  script = SCRIPT,
): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    const child = spawn("sh", [script], {
      cwd: p.dir,
      env: { ...p.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (bytes: Uint8Array) => stdout += new TextDecoder().decode(bytes));
    child.stderr.on("data", (bytes: Uint8Array) => stderr += new TextDecoder().decode(bytes));
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}

/** Makes a directory with the tools of the script except some; returns its path. */
async function toolsWithout(p: TestProject, ...missing: readonly string[]): Promise<string> {
  const directory = join(p.home, `tools without ${missing.join(" ")}`);
  await mkdir(directory);
  for (const tool of [...TOOLS, ...MORE_TOOLS].filter((name) => !missing.includes(name))) {
    for (const place of (process.env.PATH ?? "").split(delimiter)) {
      const path = join(place, tool);
      if (await stat(path).then((found) => found.isFile(), () => false)) {
        await symlink(path, join(directory, tool));
        break;
      }
    }
  }
  return directory;
}

/** Checks that a run failed with one sentence and installed nothing. */
async function assertRefused(p: TestProject, run: RunResult, words: RegExp, prefix: string) {
  assert.equal(run.code, 1, run.stdout + run.stderr);
  assert.match(run.stderr, words);
  assert.match(run.stderr.trimEnd().split("\n").at(-1) ?? "", /^install\.sh: /);
  const left = await readdir(prefix, { recursive: true }).catch(() => []);
  assert.deepEqual(left.filter((name) => name.includes("mm")), []);
  assert.deepEqual(await readdir(p.env["TMPDIR"] ?? ""), [], "no temporary file is left");
}

test(
  "the install script puts mm, its manual page and its completions under a prefix with blanks",
  options,
  () =>
    withProject(async (p) => {
      const MM_FROM = await writeRelease(p, "1.2.3");
      const PREFIX = join(p.home, "my $prefix");
      const run = await install(p, { MM_FROM, PREFIX });
      assert.equal(run.code, 0, run.stderr);
      assert.equal(run.stderr, "");
      assert.match(run.stdout, /^Installed mm 1\.2\.3 \(test\)$/m);
      assert.match(run.stdout, /bin" is not in PATH/);
      assert.equal((await stat(join(PREFIX, "bin", "mm"))).mode & 0o777, 0o755);
      for (const file of ["share/man/man1/mm.1", ...Object.values(COMPLETION_FILES)]) {
        assert.equal((await stat(join(PREFIX, file))).mode & 0o777, 0o644, file);
        assert.ok(run.stdout.includes(join(PREFIX, file)), "what was installed is listed");
      }
      assert.deepEqual(await readdir(p.env["TMPDIR"] ?? ""), []);
    }),
);

test(
  "without a prefix mm goes to ~/.local, and a second run brings the newer one",
  options,
  () =>
    withProject(async (p) => {
      const bin = join(p.home, ".local", "bin");
      const PATH = `${bin}:${p.env["PATH"]}`;
      const first = await install(p, { MM_FROM: await writeRelease(p, "1.0.0"), PATH });
      assert.equal(first.code, 0, first.stderr);
      assert.doesNotMatch(first.stdout, /Note:/);
      const second = await install(p, { MM_FROM: await writeRelease(p, "1.0.1"), PATH });
      assert.equal(second.code, 0, second.stderr);
      assert.match(await readFile(join(bin, "mm"), "utf8"), /1\.0\.1/);
      assert.deepEqual(await readdir(bin), ["mm"]);
    }),
);

test("another mm that comes first in PATH is named", options, () =>
  withProject(async (p) => {
    const other = join(p.home, "other");
    await mkdir(other);
    await writeFile(join(other, "mm"), "#!/bin/sh\n", { mode: 0o755 });
    const PATH = `${other}:${join(p.home, ".local", "bin")}:${p.env["PATH"]}`;
    const run = await install(p, { MM_FROM: await writeRelease(p, "1.0.0"), PATH });
    assert.equal(run.code, 0, run.stderr);
    assert.ok(run.stdout.includes(`Note: "mm" is "${join(other, "mm")}"`), run.stdout);
  }));

test(
  "the install script downloads over HTTP from this machine, and says what it cannot download",
  options,
  () =>
    withProject(async (p) => {
      const directory = await writeRelease(p, "1.2.3");
      const server = createServer((request, response) => {
        readFile(join(directory, (request.url ?? "").slice("/v1/".length))).then(
          (bytes) => response.end(bytes),
          () => response.writeHead(404).end(),
        );
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      p.defer(() => server.close());
      const address = server.address();
      assert.ok(typeof address === "object" && address !== null);
      const MM_FROM = `http://127.0.0.1:${address.port}/v1`;
      const PREFIX = join(p.home, "prefix");
      const run = await install(p, { MM_FROM, PREFIX });
      assert.equal(run.code, 0, run.stderr);
      assert.match(run.stdout, /Installed mm 1\.2\.3/);
      const missing = await install(p, { MM_FROM: `${MM_FROM}/none`, PREFIX: join(p.home, "no") });
      await assertRefused(
        p,
        missing,
        /cannot download "http:.*\/none\/SHA256SUMS"/,
        join(p.home, "no"),
      );
    }),
);

test(
  "a file whose sum is not the released one is not installed",
  options,
  () =>
    withProject(async (p) => {
      const MM_FROM = await writeRelease(p, "1.2.3");
      const archive = join(MM_FROM, `mm-${target?.name}.tar.gz`);
      await writeFile(archive, await readFile(archive).then((bytes) => bytes.subarray(0, -1)));
      const PREFIX = join(p.home, "prefix");
      const run = await install(p, { MM_FROM, PREFIX });
      await assertRefused(
        p,
        run,
        /is not the released file: its SHA-256 is [0-9a-f]{64} and not/,
        PREFIX,
      );
    }),
);

test(
  "an executable that does not run here is not installed",
  options,
  () =>
    withProject(async (p) => {
      const MM_FROM = join(p.home, "release");
      await mkdir(MM_FROM);
      const archive = join(MM_FROM, `mm-${target?.name}.tar.gz`);
      const content = new TextEncoder().encode("\x7fELF nonsense");
      await writeFile(archive, gzipSync(tar([{ name: "mm", content, executable: true }])));
      const sums = new Map([[`mm-${target?.name}.tar.gz`, await sha256Of(archive)]]);
      await writeFile(join(MM_FROM, SUMS_FILE), sumsText(sums));
      const PREFIX = join(p.home, "prefix");
      const run = await install(p, { MM_FROM, PREFIX });
      await assertRefused(p, run, /does not run on this system; nothing was installed/, PREFIX);
    }),
);

for (
  const [words, uname, expected] of [
    ["an unknown system", { s: "Plan9", m: "x86_64" }, /no executable for the system "Plan9".*npm/],
    [
      "an unknown processor",
      { s: "Linux", m: "riscv64" },
      /no executable for the processor "riscv64"/,
    ],
    ["Windows", { s: "MINGW64_NT-10.0", m: "x86_64" }, /download mm-windows-x64\.exe/],
    [
      "a target that the release lacks",
      { s: "Darwin", m: "arm64" },
      /has no "mm-macos-arm64\.tar\.gz"/,
    ],
  ] as const
) {
  test(`the install script says what to do on ${words}`, options, () =>
    withProject(async (p) => {
      const tools = join(p.home, "tools");
      await mkdir(tools);
      await writeFile(
        join(tools, "uname"),
        `#!/bin/sh\ncase $1 in -s) echo '${uname.s}';; -m) echo '${uname.m}';; esac\n`,
        { mode: 0o755 },
      );
      const PREFIX = join(p.home, "prefix");
      const MM_FROM = await writeRelease(p, "1.2.3");
      if (expected.source.includes("macos") && target?.name === "macos-arm64") return;
      const run = await install(p, { MM_FROM, PREFIX, PATH: `${tools}:${p.env["PATH"]}` });
      await assertRefused(p, run, expected, PREFIX);
    }));
}

test("a missing tool is named", options, () =>
  withProject(async (p) => {
    const MM_FROM = await writeRelease(p, "1.2.3");
    const PREFIX = join(p.home, "prefix");
    const missing = async (tools: readonly string[], words: RegExp, from = MM_FROM) => {
      const PATH = await toolsWithout(p, ...tools);
      await assertRefused(p, await install(p, { MM_FROM: from, PREFIX, PATH }), words, PREFIX);
    };
    await missing(["tar"], /the program "tar" is missing/);
    await missing(["sha256sum", "shasum"], /needs sha256sum, shasum or openssl/);
    await missing(["curl"], /needs curl or wget/, "https://127.0.0.1:1/v1");
  }));

test(
  "what is no release, and an address without https, are refused",
  options,
  () =>
    withProject(async (p) => {
      const PREFIX = join(p.home, "prefix");
      const refused = async (env: Readonly<Record<string, string>>, words: RegExp) =>
        assertRefused(p, await install(p, { PREFIX, ...env }), words, PREFIX);
      await refused({}, /set MM_FROM to the directory or the https address/);
      await refused({ MM_FROM: "http://198.51.100.1/v1" }, /begins with https:\/\//);
      await refused({ MM_FROM: "ftp://127.0.0.1/v1" }, /begins with https:\/\//);
      await refused({ MM_FROM: p.dir }, /there is no file ".*SHA256SUMS"/);
    }),
);

test("a prefix that cannot be written to is named", options, () =>
  withProject(async (p) => {
    const MM_FROM = await writeRelease(p, "1.2.3");
    const file = await p.write("file", "");
    const PREFIX = join(file, "below");
    const run = await install(p, { MM_FROM, PREFIX });
    assert.equal(run.code, 1);
    assert.match(
      run.stderr,
      /^install\.sh: cannot make the directory ".*file\/below\/bin"; set PREFIX/m,
    );
  }));

test(
  "a release's own script needs no address, and one that came only in part does nothing",
  options,
  () =>
    withProject(async (p) => {
      const text = await readFile(SCRIPT, "utf8");
      const script = join(p.home, "install.sh");
      const from = await writeRelease(p, "1.2.3");
      await writeFile(script, text.replace("@REPOSITORY@/releases/download/v@VERSION@", from));
      await chmod(script, 0o755);
      const run = await install(p, {}, script);
      assert.equal(run.code, 0, run.stderr);
      const half = join(p.home, "half.sh");
      await cp(script, half);
      await writeFile(half, (await readFile(script, "utf8")).replace(/\nmain\n$/u, "\n"));
      const prefix = join(p.home, "none");
      const cut = await install(p, { PREFIX: prefix }, half);
      assert.equal(cut.stdout, "");
      assert.equal(await stat(prefix).then(() => true, () => false), false);
    }),
);
