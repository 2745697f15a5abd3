import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createCommands } from "./commands.ts";
import { groupMembers, isGone } from "./group.ts";
import type { CommandResult, Commands, RunOptions } from "./process.ts";
import type { Reaper } from "./reaper.ts";

/** A reaper that only records what it holds; the real one has its own test. */
function recordingReaper(): Reaper & { readonly held: Set<number> } {
  const held = new Set<number>();
  const none = { ready: () => Promise.resolve(), addDir() {}, delDir() {}, close() {} };
  const mark = `${crypto.randomUUID()}.`;
  return { mark, held, add: (pgid) => held.add(pgid), del: (pgid) => held.delete(pgid), ...none };
}

function setup(): {
  commands: Commands;
  held: Set<number>;
  run(command: string, options?: Partial<RunOptions>): Promise<CommandResult>;
} {
  const reaper = recordingReaper();
  const commands = createCommands({ reaper });
  return {
    commands,
    held: reaper.held,
    run: (command, options = {}) =>
      commands.run(command, {
        cwd: tmpdir(),
        env: { PATH: process.env["PATH"] ?? "" },
        signal: new AbortController().signal,
        timeoutMs: 20_000,
        keep: 20_000,
        onOutput: () => {},
        ...options,
      }),
  };
}

/** Whether a process is in the process table. */
function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function until(what: () => boolean, limitMs: number): Promise<void> {
  const end = performance.now() + limitMs;
  while (!what()) {
    assert.ok(performance.now() < end, `not within ${limitMs} ms`);
    await delay(10);
  }
}

test("a command's output and exit status come back", async () => {
  const { run, held } = setup();
  const result = await run("echo salut; exit 3");
  assert.equal(result.output, "salut\n");
  assert.equal(result.total, 6);
  assert.deepEqual(result.end, { code: 3, signal: null });
  assert.equal(result.timedOut, false);
  assert.deepEqual(result.background, []);
  assert.equal(held.size, 0);
});

test("stdout and stderr come in the order they were written", async () => {
  const { run } = setup();
  const result = await run("for i in 1 2 3 4 5 6 7 8; do echo out$i; echo err$i >&2; done");
  const expected = [1, 2, 3, 4, 5, 6, 7, 8].map((i) => `out${i}\nerr${i}\n`).join("");
  assert.equal(result.output, expected);
});

test("bash runs the command, not a lesser shell", async () => {
  const { run } = setup();
  const result = await run('a=(x y); [[ ${a[1]} == y ]] && echo "$0 <(ok)"; cat <(echo sub)');
  assert.match(result.output, /bash <\(ok\)\nsub\n$/u);
});

test("a command that reads its input gets the end of it at once", async () => {
  const { run } = setup();
  const start = performance.now();
  const result = await run('cat; read -r line; echo "read: $?"');
  assert.equal(result.output, "read: 1\n");
  assert.ok(performance.now() - start < 2000);
});

test("an unknown program is the shell's own exit status 127", async () => {
  const { run } = setup();
  const result = await run("no-such-program-here");
  assert.equal(result.end.code, 127);
  assert.match(result.output, /no-such-program-here: command not found/u);
});

test("a command killed by a signal tells which", async () => {
  const { run } = setup();
  const result = await run("echo before; kill -SEGV $$");
  assert.deepEqual(result.end, { code: null, signal: "SIGSEGV" });
  assert.equal(result.output, "before\n");
});

test("a deleted working directory is an error that names it", async () => {
  const { run, held } = setup();
  const cwd = await mkdtemp(join(tmpdir(), "mm-gone-"));
  await rm(cwd, { recursive: true });
  await assert.rejects(run("true", { cwd }), {
    message: `Cannot start "/bin/sh" in "${cwd}": there is no such directory`,
  });
  const file = join(tmpdir(), `mm-file-${process.pid}`);
  await writeFile(file, "");
  try {
    await assert.rejects(run("true", { cwd: file }), /it is not a directory$/u);
  } finally {
    await rm(file);
  }
  assert.equal(held.size, 0);
});

test("a command that is too long or holds a NUL is an error that says so", async () => {
  const { run } = setup();
  await assert.rejects(run(`true # ${"x".repeat(300_000)}`), /larger than the system takes/u);
  await assert.rejects(run("echo a\0b"), /holds a NUL character/u);
});

test("a bash that lies in a relative entry of the PATH is not taken", async (t) => {
  const { run } = setup();
  const cwd = await mkdtemp(join(tmpdir(), "mm-path-"));
  t.after(() => rm(cwd, { recursive: true }));
  await writeFile(join(cwd, "bash"), "#!/bin/sh\necho trapped\n", { mode: 0o755 });
  const PATH = `.::${process.env["PATH"]}`;
  assert.equal((await run("echo free", { cwd, env: { PATH } })).output, "free\n");
});

test("without a PATH the command still runs", async () => {
  const { run } = setup();
  assert.equal((await run("echo here", { env: {} })).output, "here\n");
});

test("commands do not read the files of interactive shells, not even over ssh", async (t) => {
  const { run } = setup();
  const home = await mkdtemp(join(tmpdir(), "mm-home-"));
  t.after(() => rm(home, { recursive: true }));
  await writeFile(join(home, ".bashrc"), "echo noise\n");
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, SSH_CLIENT: "10.0.0.1 1 22" };
  assert.equal((await run("echo quiet", { env })).output, "quiet\n");
});

test("the environment is exactly the one that was given, and the mark by which strays are found", async () => {
  const { run } = setup();
  const result = await run("env | grep -v '^\\(PWD\\|SHLVL\\|_\\)=' | sort", {
    env: { PATH: "/usr/bin:/bin", A: "ü=1" },
  });
  assert.match(
    result.output,
    /^A=ü=1\nMM_GROUP=[0-9a-f-]{36}\.[0-9a-f-]{36}\.1\nPATH=\/usr\/bin:\/bin\n$/u,
  );
});

test("a command that leaves a background process returns at once and names it", async () => {
  const { run, commands, held } = setup();
  const start = performance.now();
  const result = await run("sleep 60 & echo done");
  assert.ok(performance.now() - start < 2500, `${performance.now() - start} ms`);
  assert.equal(result.output, "done\n");
  assert.equal(result.end.code, 0);
  assert.equal(result.background.length, 1);
  const [pid = 0] = result.background;
  assert.ok(runs(pid));
  assert.equal(held.size, 1);
  const [group = 0] = held;
  await commands.close();
  assert.ok(await isGone(group));
  assert.equal(held.size, 0);
});

test("a background process that goes on writing neither delays the result nor dies of it", async (t) => {
  const { run, commands } = setup();
  t.after(() => commands.close());
  const start = performance.now();
  const result = await run(
    "(trap '' HUP; while :; do echo tick; sleep 0.01; done) & echo done; sleep 0.1",
  );
  assert.ok(performance.now() - start < 2500, `${performance.now() - start} ms`);
  assert.match(result.output, /done\n/u);
  const [pid = 0] = result.background;
  await delay(500);
  assert.ok(runs(pid), "it was killed by a closed pipe");
});

test("a background process that escaped its group and holds the output does not delay it", async (t) => {
  const { run } = setup();
  const start = performance.now();
  const result = await run("setsid sleep 47 & echo $!; sleep 0.1");
  t.after(() => {
    try {
      process.kill(Number(result.output), "SIGKILL");
    } catch {
      // It is gone already.
    }
  });
  assert.ok(performance.now() - start < 2500);
});

test("a background process that says nothing has an end, and is listed until then", async (t) => {
  const reaper = recordingReaper();
  const commands = createCommands({ reaper, backgroundSilenceMs: 3000 });
  t.after(() => commands.close());
  const run = (command: string) =>
    commands.run(command, {
      cwd: tmpdir(),
      env: { PATH: process.env["PATH"] ?? "" },
      signal: new AbortController().signal,
      timeoutMs: 20_000,
      keep: 1000,
      onOutput: () => {},
    });
  await run("sleep 300 & true");
  await run("while sleep 0.5; do echo working; done & true");
  await run("true");
  const listed = () => commands.background().map(({ command }) => command);
  assert.deepEqual(listed(), ["sleep 300 & true", "while sleep 0.5; do echo working; done & true"]);
  while (listed().length === 2) await new Promise((resolve) => setTimeout(resolve, 50));
  // The one that speaks goes on.
  assert.deepEqual(listed(), ["while sleep 0.5; do echo working; done & true"]);
  assert.equal(reaper.held.size, 1);
});

test("a background group that ended is forgotten", async () => {
  const { run, commands, held } = setup();
  const result = await run("sleep 0.5 & echo done");
  assert.equal(result.background.length, 1);
  assert.equal(held.size, 1);
  await until(() => held.size === 0, 5000);
  await commands.close();
});

for (
  const [name, command] of [
    ["a shell that waits for a background process", "echo part; sleep 300 & wait"],
    ["a pipeline in a shell in the shell", 'echo part; bash -c "sleep 300 | cat"'],
    ["processes that ignore TERM", "trap '' TERM; echo part; sleep 300 & sleep 300; sleep 300"],
  ] as const
) {
  test(`a timeout ends the whole group and keeps the output: ${name}`, async () => {
    const { run, held } = setup();
    const start = performance.now();
    let group = 0;
    const result = await run(`echo $$; ${command}`, {
      timeoutMs: 300,
      onOutput: (text) => group ||= Number.parseInt(text),
    });
    assert.ok(performance.now() - start < 4000, `${performance.now() - start} ms`);
    assert.equal(result.timedOut, true);
    assert.equal(result.output, `${group}\npart\n`);
    assert.equal(result.end.code, null);
    assert.deepEqual(result.background, []);
    assert.deepEqual(await groupMembers(group), []);
    assert.equal(held.size, 0);
  });
}

test("an abort ends the whole group before it rejects with the signal's reason", async () => {
  const { run, held } = setup();
  const controller = new AbortController();
  const reason = new Error("the person pressed Esc");
  let group = 0;
  const running = run("trap '' TERM; echo $$; sleep 300 & sleep 300", {
    signal: controller.signal,
    onOutput: (text) => {
      group = Number.parseInt(text);
      controller.abort(reason);
    },
  });
  await assert.rejects(running, (error) => error === reason);
  assert.ok(group > 1);
  assert.deepEqual(await groupMembers(group), []);
  assert.equal(held.size, 0);
});

test("an abort before the start starts nothing", async () => {
  const { run } = setup();
  const file = join(tmpdir(), `mm-never-${process.pid}`);
  const reason = new Error("too late");
  await assert.rejects(
    run(`touch '${file}'`, { signal: AbortSignal.abort(reason) }),
    (error) => error === reason,
  );
  await assert.rejects(rm(file), { code: "ENOENT" });
});

test("closing ends a running command, and later ones are refused", async () => {
  const { run, commands } = setup();
  let group = 0;
  let started = () => {};
  const start = new Promise<void>((resolve) => started = resolve);
  const running = run("echo $$; sleep 300; sleep 300", {
    onOutput: (text) => {
      group = Number.parseInt(text);
      started();
    },
  });
  await start;
  await commands.close();
  assert.deepEqual(await groupMembers(group), []);
  assert.equal((await running).end.signal, "SIGTERM");
  await assert.rejects(run("true"), /the session is closed/u);
});

test("closing while a command starts leaves no process", async () => {
  const { run, commands, held } = setup();
  const running = run("sleep 300");
  await commands.close();
  assert.notEqual((await running).end.signal, null);
  assert.equal(held.size, 0);
});

test("300 MB of output pass in bounded memory", async () => {
  const { run } = setup();
  const before = process.memoryUsage().rss;
  let peak = before;
  let pieces = 0;
  const start = performance.now();
  const result = await run("yes | head -c 300000000", {
    timeoutMs: 60_000,
    keep: 10_000,
    onOutput: () => {
      if (pieces++ % 64 === 0) peak = Math.max(peak, process.memoryUsage().rss);
    },
  });
  assert.equal(result.total, 300_000_000);
  assert.deepEqual(result.end, { code: 0, signal: null });
  assert.ok(result.output.length <= 10_000);
  assert.match(result.output, /^y\ny\n[^]*\n\[\.\.\. 29999\d{4} of 300000000 characters left out/u);
  assert.ok(result.output.endsWith("y\n"));
  assert.ok(peak - before < 150e6, `${Math.round((peak - before) / 1e6)} MB more`);
  assert.ok(performance.now() - start < 30_000);
});

test("binary output is text that JSON can hold", async () => {
  const { run } = setup();
  const result = await run("head -c 3000000 /dev/urandom", { keep: 1001 });
  assert.ok(result.output.length <= 1001);
  assert.ok(result.output.isWellFormed());
});

test("a character split between two writes is whole", async () => {
  const { run } = setup();
  const pieces: string[] = [];
  const result = await run(
    "printf '\\xf0\\x9f'; sleep 0.1; printf '\\x98\\x80'; sleep 0.1; printf '\\xe6\\x97'",
    { onOutput: (text) => pieces.push(text) },
  );
  assert.equal(result.output, "\u{1f600}\ufffd");
  assert.equal(pieces.join(""), result.output);
});

test("a descriptor that mm inherited does not reach a command", async () => {
  const { run } = setup();
  const result = await run(
    "for fd in 3 4 5 6 7 8 9; do [ -e /proc/self/fd/$fd ] && echo $fd; done; :",
  );
  assert.equal(result.output, "");
});

test("no ended command stays in the process table", async () => {
  const { run } = setup();
  const pids: number[] = [];
  for (let i = 0; i < 5; i++) pids.push(Number((await run("echo $$")).output));
  assert.deepEqual(pids.filter(runs), []);
});
