import assert from "node:assert/strict";
import { chmod, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { createRunGit, type RunGitSetup } from "./git.ts";
import { gitEnvironment } from "./git_environment.ts";
import { gitTestEnvironment } from "./git_for_tests.ts";
import { isGone } from "./group.ts";
import { createReaper } from "./reaper.ts";

const PATH = process.env.PATH ?? "";

/** Runs a test with git in a directory of its own. */
async function withGit(
  body: (
    run: ReturnType<typeof createRunGit>,
    cwd: string,
  ) => Promise<void>,
  setup: Partial<RunGitSetup> = {},
): Promise<void> {
  const cwd = await realpath(await mkdtemp(join(tmpdir(), "mm-git-")));
  const reaper = createReaper();
  try {
    const env = gitTestEnvironment(cwd);
    await body(createRunGit({ reaper, env, ...setup }), cwd);
  } finally {
    reaper.close();
    await rm(cwd, { recursive: true });
  }
}

const never = () => new AbortController().signal;

/** Makes git run a command line, as an alias of the user's configuration. */
const alias = (command: string) => ["-c", `alias.try=!${command}`, "try"];

test("git runs with its arguments as they are, and says how it ended", () =>
  withGit(async (run, cwd) => {
    const options = { cwd, signal: never() };
    assert.equal((await run(["init", "--quiet"], options)).code, 0);
    const value = "$(echo 'x') \"ä\"\n; exit";
    await run(["config", "a.b", value], options);
    assert.deepEqual(await run(["config", "a.b"], options), {
      code: 0,
      stdout: `${value}\n`,
      stderr: "",
    });
    const failed = await run(["rev-parse", "--verify", "gone"], options);
    assert.deepEqual({ ...failed, stderr: failed.stderr.trim() }, {
      code: 128,
      stdout: "",
      stderr: "fatal: Needed a single revision",
    });
  }));

test("git has no input, no terminal, no hooks, no file monitor and no locks it can do without", () =>
  withGit(async (run, cwd) => {
    const options = { cwd, signal: never() };
    const { stdout } = await run(
      alias("cat; env; git config core.hooksPath; git config core.fsmonitor"),
      options,
    );
    assert.match(stdout, /^GIT_TERMINAL_PROMPT=0$/mu);
    assert.match(stdout, /^GIT_OPTIONAL_LOCKS=0$/mu);
    assert.match(stdout, /^LC_ALL=C$/mu);
    assert.match(stdout, /\/dev\/null\nfalse\n$/u);
    assert.notEqual((await run(alias("exec 3< /dev/tty"), options)).code, 0);
  }));

test("git is found on the PATH only, and not in the directory it is to work on", () =>
  withGit(async (_, cwd) => {
    const reaper = createReaper();
    const missing = { code: null, stdout: "", stderr: "there is no git on the PATH" };
    await writeFile(join(cwd, "git"), `#!/bin/sh\necho "$@" > ran\n`);
    await chmod(join(cwd, "git"), 0o755);
    for (const path of [cwd, ".", "", join(cwd, "none")]) {
      const run = createRunGit({ reaper, env: { PATH: path } });
      assert.deepEqual(await run(["--version"], { cwd, signal: never() }), missing, path);
    }
    await assert.rejects(readFile(join(cwd, "ran")));
    reaper.close();
  }));

test("a directory that is missing is a result", () =>
  withGit(async (run, cwd) => {
    const { code, stderr } = await run(["--version"], { cwd: join(cwd, "gone"), signal: never() });
    assert.equal(code, null);
    assert.match(stderr, /there is no such directory/u);
  }));

test("a git that takes too long is ended with all that it started", () =>
  withGit(async (run, cwd) => {
    const result = await run(alias("echo $$ > pid; sleep 300"), { cwd, signal: never() });
    assert.deepEqual(result, {
      code: null,
      stdout: "",
      stderr: "git was ended: it took longer than 0.5 s",
    });
    assert.equal(await isGone(Number(await readFile(join(cwd, "pid"), "utf8"))), true);
  }, { timeoutMs: 500 }));

test("a git that writes too much is ended, and what it wrote is not taken for the whole", () =>
  withGit(async (run, cwd) => {
    const result = await run(alias("yes"), { cwd, signal: never() });
    assert.deepEqual(result, {
      code: null,
      stdout: "",
      stderr: "git was ended: it wrote more than 1000 bytes",
    });
  }, { maxBytes: 1000 }));

test("a git that is killed is a result without a status", () =>
  withGit(async (run, cwd) => {
    const result = await run(alias("kill -9 $PPID; sleep 300"), { cwd, signal: never() });
    assert.deepEqual(result, { code: null, stdout: "", stderr: "git was ended by SIGKILL" });
  }));

test("of what git complains about the end is kept", () =>
  withGit(async (run, cwd) => {
    const command = "i=0; while [ $i -lt 2000 ]; do echo line $i >&2; i=$((i+1)); done; exit 3";
    const { code, stderr } = await run(alias(command), { cwd, signal: never() });
    assert.equal(code, 3);
    assert.ok(stderr.length <= 4000);
    assert.match(stderr, /line 1999\n$/u);
  }));

test("a cancelled git rejects with the reason, when it is gone", () =>
  withGit(async (run, cwd) => {
    const reason = new Error("no more");
    const control = new AbortController();
    const pipe = join(cwd, "pipe");
    await run(alias("mkfifo pipe"), { cwd, signal: never() });
    const running = run(alias("echo $$ > pipe; sleep 300"), { cwd, signal: control.signal });
    running.catch(() => {});
    const pid = Number(await readFile(pipe, "utf8"));
    control.abort(reason);
    await assert.rejects(running, reason);
    assert.equal(await isGone(pid), true);
    await assert.rejects(run(["--version"], { cwd, signal: control.signal }), reason);
  }));

test("the environment of git names no repository, no program to ask with and no account", () => {
  const env = gitEnvironment({
    PATH,
    HOME: "/home/ann",
    SSH_AUTH_SOCK: "/run/agent",
    GIT_CONFIG_GLOBAL: "/g",
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: "safe.directory",
    GIT_CONFIG_VALUE_0: "*",
    LC_ALL: "de_DE.UTF-8",
    ...Object.fromEntries(
      [
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_COMMON_DIR",
        "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_NAMESPACE",
        "GIT_PREFIX",
        "GIT_CONFIG",
        "GIT_CONFIG_PARAMETERS",
        "GIT_SSH_COMMAND",
        "GIT_EXTERNAL_DIFF",
        "GIT_ASKPASS",
        "SSH_ASKPASS",
        "GIT_TRACE",
        "OPENAI_API_KEY",
        "AGENT_API_KEY",
        "MM_ASK_DEPTH",
      ].map((name) => [name, "x"]),
    ),
    UNSET: undefined,
  });
  assert.deepEqual(env, {
    PATH,
    HOME: "/home/ann",
    SSH_AUTH_SOCK: "/run/agent",
    GIT_CONFIG_GLOBAL: "/g",
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: "safe.directory",
    GIT_CONFIG_VALUE_0: "*",
    LC_ALL: "C",
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_ALLOW_PROTOCOL: "",
    GIT_NO_LAZY_FETCH: "1",
  });
});
