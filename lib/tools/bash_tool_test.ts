import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, rm } from "node:fs/promises";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { createCommands } from "../platform/commands.ts";
import { isGone } from "../platform/group.ts";
import { createReaper } from "../platform/reaper.ts";
import { bashTool } from "./bash_tool.ts";
import { type TestProject, testProject } from "./testing.ts";
import type { Tool, ToolContext, ToolResult } from "./tool.ts";
import { visibleCommand } from "./visible_command.ts";

const bash = bashTool as Tool;
const skip = process.platform === "win32" && "the commands are those of Unix";

/** A project whose commands are real processes. */
async function project(t: TestContext, options: Partial<ToolContext> = {}): Promise<
  TestProject & {
    run(command: string, more?: { timeout?: number; context?: Partial<ToolContext> }): Promise<
      ToolResult
    >;
  }
> {
  const reaper = createReaper();
  const commands = createCommands({ reaper });
  t.after(async () => {
    await commands.close();
    reaper.close();
  });
  const env = { PATH: process.env["PATH"] ?? "" };
  const p = await testProject(t, {
    commands,
    commandEnv: () => Promise.resolve(env),
    ...options,
  });
  return {
    ...p,
    run: (command, { timeout, context } = {}) =>
      p.call(bash, { command, ...(timeout === undefined ? {} : { timeout }) }, context),
  };
}

test("bash() returns both outputs and the exit status", { skip }, async (t) => {
  const p = await project(t);
  assert.deepEqual(await p.run("echo out; echo err >&2"), {
    ok: true,
    text: "out\nerr\n[exit status 0]",
    exit: { code: 0, signal: null },
  });
  assert.deepEqual(await p.run("echo no; exit 3"), {
    ok: false,
    text: "no\n[exit status 3]",
    exit: { code: 3, signal: null },
  });
  assert.equal((await p.run("true")).text, "[no output] [exit status 0]");
  assert.equal(p.shown.join(""), "out\nerr\nno\n");
});

test(
  "bash() tells a command that does not exist and one killed by a signal",
  { skip },
  async (t) => {
    const p = await project(t);
    assert.match((await p.run("no-such-command-of-mm")).text, /not found\n\[exit status 127\]$/u);
    assert.deepEqual(await p.run("kill -SEGV $$"), {
      ok: false,
      text: "[no output] [killed by SIGSEGV]",
      exit: { code: null, signal: "SIGSEGV" },
    });
  },
);

test("bash() stands at the end of its input at once: cat, read, pagers and editors return", {
  skip,
}, async (t) => {
  const p = await project(t);
  await p.file("long.txt", "line\n".repeat(500));
  execFileSync("git", ["init", "-q"], { cwd: p.directory });
  const started = performance.now();
  assert.equal((await p.run("cat")).text, "[no output] [exit status 0]");
  assert.equal((await p.run("read x; echo got $?")).text, "got 1\n[exit status 0]");
  const log = await p.run(
    "git add . && git -c user.name=a -c user.email=a@b commit -qm x && git log --stat",
  );
  assert.match(log.text, /long\.txt \| 500/u);
  const commit = await p.run(
    "echo y >> long.txt; git -c user.name=a -c user.email=a@b commit -a 2>&1",
  );
  assert.equal(commit.ok, false);
  assert.match(commit.text, /[Ee]mpty commit message/u);
  assert.ok(performance.now() - started < 8000);
});

test("bash() returns when the command ends and names what it left running", { skip }, async (t) => {
  const p = await project(t);
  const started = performance.now();
  const result = await p.run("echo $$; sleep 60 & echo done");
  assert.ok(performance.now() - started < 3000);
  const told =
    /^(\d+)\ndone\n\[exit status 0; still running in the background, until the session ends: (\d+)\]$/u
      .exec(result.text);
  assert.ok(told, result.text);
  const [group, pid] = told.slice(1).map(Number) as [number, number];
  assert.notEqual(pid, group);
  assert.ok(!await isGone(group));
  assert.equal(result.ok, true);
  await p.context.commands.close();
  assert.ok(await isGone(group));
});

test(
  "bash() ends the whole group at the timeout and keeps the output so far",
  { skip },
  async (t) => {
    const p = await project(t);
    for (const rest of ["sleep 300 & wait", 'bash -c "sleep 300 | cat"']) {
      const result = await p.run(`echo $$; ${rest}`, { timeout: 0.5 });
      const told =
        /^(\d+)\n\[timed out after 0\.5 s, ended with all it started; timeout may be up to 20 s\]$/u
          .exec(result.text);
      assert.ok(told, result.text);
      assert.equal(result.ok, false);
      assert.ok(await isGone(Number(told[1])));
    }
  },
);

test(
  "bash() lowers a timeout above the maximum and says so; 0 means the default",
  { skip },
  async (t) => {
    const p = await project(t, { bashTimeoutMs: 300, bashTimeoutMaxMs: 600 });
    assert.equal(
      (await p.run("echo x", { timeout: 99 })).text,
      "x\n[exit status 0; the timeout of 99 s was lowered to 0.6 s, the most that is allowed]",
    );
    assert.match(
      (await p.run("sleep 9", { timeout: 99 })).text,
      /^\[no output\] \[timed out after 0\.6 s, ended with all it started; the timeout of 99 s was lowered/u,
    );
    assert.match((await p.run("sleep 9", { timeout: 0 })).text, /timed out after 0\.3 s/u);
  },
);

test(
  "bash() ends at once with the signal's reason, also when TERM is ignored",
  { skip },
  async (t) => {
    const p = await project(t);
    const controller = new AbortController();
    const reason = new Error("cancelled by the test");
    let pid = 0;
    const pending = p.run("echo $$; trap '' TERM; sleep 300", {
      context: {
        signal: controller.signal,
        output: (text) => {
          pid = Number(text);
          controller.abort(reason);
        },
      },
    });
    await assert.rejects(pending, (error) => error === reason);
    assert.ok(pid > 0);
    assert.ok(await isGone(pid));
  },
);

test(
  "bash() bounds any amount of output, keeps its ends and counts what it left out",
  { skip },
  async (t) => {
    const p = await project(t, { bashTimeoutMs: 60_000 });
    const text = (await p.run("echo first; yes | head -c 60000000; echo last", {
      context: { output: () => {} },
    })).text;
    assert.ok(text.length <= 20_000, `${text.length}`);
    assert.match(text, /^first\ny\n/u);
    assert.match(text, /\[\.\.\. \d+ of 60000011 characters left out \.\.\.\]/u);
    assert.match(text, /\nlast\n\[exit status 0\]$/u);
    assert.equal(text.match(/left out/gu)?.length, 1);
  },
);

test("bash() keeps binary output and cuts at an emoji well formed", { skip }, async (t) => {
  const p = await project(t);
  const noise = await p.run("head -c 1000000 /dev/urandom", { context: { output: () => {} } });
  assert.ok(noise.text.isWellFormed());
  assert.ok(noise.text.length <= 20_000);
  // deno-lint-ignore no-control-regex -- that there are none is the point
  assert.ok(!/[\u0000-\u0008\u000b-\u001f]/u.test(noise.text));
  for (const shift of [0, 1]) {
    const emoji = await p.run(`printf '${"a".repeat(shift)}'; printf '😀%.0s' {1..3000}`, {
      context: { maxOutput: 1000 },
    });
    assert.ok(emoji.text.isWellFormed());
    assert.ok(!emoji.text.includes("\ufffd"));
    assert.ok(emoji.text.length <= 1000);
  }
});

test("bash() takes colours and progress bars out of the text", { skip }, async (t) => {
  const p = await project(t);
  const result = await p.run(
    String.raw`printf '\033[31mred\033[0m \033]0;title\007plain\r\n10%%\r20%%\n'`,
  );
  assert.equal(result.text, "red plain\n10%\n20%\n[exit status 0]");
});

test("bash() says that its directory is gone", { skip }, async (t) => {
  const p = await project(t);
  await mkdir(p.path("gone"));
  await rm(p.path("gone"), { recursive: true });
  const result = await p.run("echo x", { context: { cwd: p.path("gone") } });
  assert.equal(result.ok, false);
  assert.match(result.text, /^Cannot start .*: there is no such directory$/u);
});

test(
  "bash() stops the watchdog while a command runs, whatever becomes of it",
  { skip },
  async (t) => {
    const p = await project(t);
    await p.run("true");
    await p.run("true", { context: { cwd: p.path("missing") } });
    assert.deepEqual(p.watchdog, ["stopped", "started", "stopped", "started"]);
  },
);

test("bash() refuses commands that cannot be meant", async (t) => {
  const p = await testProject(t);
  assert.equal((await p.call(bash, { command: "  " })).text, 'Cannot run "command": it is empty');
  assert.match((await p.call(bash, { command: "echo \0" })).text, /NUL character$/u);
});

test("bash() shows the whole command to the person who decides", async (t) => {
  const p = await testProject(t);
  const parsed = bash.parse({
    command: `echo ${"a".repeat(5000)}\nrm -rf x`,
    description: "lists",
  });
  assert.ok("input" in parsed);
  const { title } = await bash.preview(parsed.input, { cwd: p.directory, files: p.context.files });
  assert.equal(title, `echo ${"a".repeat(5000)} ⏎ rm -rf x`);
});

test("visibleCommand() makes visible what could hide a part of a command", () => {
  assert.equal(visibleCommand("a\r\nb\tc"), "a ⏎ b  c");
  assert.equal(visibleCommand("ls \u001b[8mrm -rf ~"), "ls \\u{1b}[8mrm -rf ~");
  assert.equal(visibleCommand("ls\rrm"), "ls\\u{d}rm");
  assert.equal(visibleCommand("a\u202eb\u200bc\u2028d"), "a\\u{202e}b\\u{200b}c\\u{2028}d");
  assert.equal(visibleCommand("echo 漢字 😀"), "echo 漢字 😀");
});
