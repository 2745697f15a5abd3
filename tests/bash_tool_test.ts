/** What a model gets back from its commands, seen through the model server. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { bash, type Keys } from "./support/agents.ts";
import { always, inOrder } from "./support/model_server.ts";
import { writeAgent } from "./support/one_agent.ts";
import { treeOf, type TreeProcess, waitForTree, waitGone } from "./support/process_tree.ts";
import { type TestProject, withProject } from "./support/project.ts";

/** Starts an editor with one agent whose model makes the calls, one in each request. */
async function start(p: TestProject, calls: ReturnType<typeof bash>[], keys: Keys = {}) {
  const server = await p.model({
    reply: [inOrder(...calls.map((call) => ({ toolCalls: [call] }))), always({ text: "done" })],
  });
  await writeAgent(p, server, { yolo: true, ...keys });
  const editor = p.editor();
  const session = await editor.start();
  /** The results so far, as the model sees them. */
  const results = () =>
    server.requests.at(-1)?.messages.filter(({ role }) => role === "tool").map(({ content }) =>
      String(content)
    ) ?? [];
  return { server, editor, session, results };
}

/** Runs commands, one call each, and returns their results and how long all of it took. */
async function run(p: TestProject, commands: readonly string[], keys: Keys = {}) {
  const { editor, session, results } = await start(p, commands.map((c) => bash(c)), keys);
  const began = performance.now();
  await editor.prompt(session, "go");
  const ms = performance.now() - began;
  assert.equal(results().length, commands.length);
  return { editor, session, ms, results: results() };
}

function isInstalled(program: string): boolean {
  try {
    execFileSync("sh", ["-c", `command -v ${program}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Waits for the processes of a test whose command line ends with a text. */
async function started(
  p: TestProject,
  mm: { readonly pid: number },
  text: string,
): Promise<readonly TreeProcess[]> {
  return await waitForTree(
    // A background process has another parent once its shell has ended.
    async () => (await treeOf(mm.pid, p.mark)).filter((one) => one.command.endsWith(text)),
    (found) => found.length > 0,
  );
}

const PYTHON = isInstalled("python3")
  ? execFileSync("python3", ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" })
    .trim()
  : undefined;

const WAITERS = [
  { needs: "cat", command: "cat; echo after", shows: /^after\n\[exit status 0\]$/ },
  { needs: "bash", command: "read x", shows: /^\[no output\] \[exit status 1\]$/ },
  { needs: "python3", command: "python3 -c 'input()'", shows: /EOFError[^]*\[exit status 1\]$/ },
  {
    needs: "git",
    command:
      "git init -q . && git add agent.yaml && git -c user.name=a -c user.email=b@c commit; git log",
    shows: /empty commit message[^]*\[exit status 128\]$/,
  },
  {
    needs: "less",
    command: "less agent.yaml",
    shows: /"provider": "llamacpp"[^]*exit status 0\]$/,
  },
  { needs: "bash", command: "cat < /dev/tty", shows: /No such device[^]*\[exit status 1\]$/ },
].filter(({ needs }) => isInstalled(needs));

test("commands that wait for a person get the end of the input at once", () =>
  withProject(async (p) => {
    const { ms, results } = await run(p, WAITERS.map(({ command }) => command));
    for (const [i, { shows }] of WAITERS.entries()) assert.match(results[i] ?? "", shows);
    assert.ok(ms < WAITERS.length * 2000, `all together took ${Math.round(ms)} ms`);
  }));

for (
  const [what, command, process] of [
    ["a job", "sleep 310 & echo done", "sleep 310"],
    [
      "a server",
      // The program itself: what stands on the PATH may be a script that starts others first.
      `nohup ${PYTHON === undefined ? "sleep 311" : `${PYTHON} -m http.server 0`} & echo done`,
      PYTHON === undefined ? "sleep 311" : "-m http.server 0",
    ],
  ] as const
) {
  test(`${what} in the background does not hold the call; the result tells of it; it ends with the session`, () =>
    withProject(async (p) => {
      const { editor, session, results, server } = await start(p, [bash(command)]);
      const asked = editor.prompt(session, "go");
      const background = await started(p, editor.mm, process);
      await asked;
      const [first, second] = server.requests;
      const ms = (second?.at ?? Infinity) - (first?.at ?? 0);
      assert.ok(ms < 1000, `the call took ${Math.round(ms)} ms`);
      const [result = ""] = results();
      assert.match(result, /^(nohup: .*\n)?done\n/);
      assert.match(result, /\[exit status 0; still running in the background, until the session/);
      const told = result.match(/ends: ([\d, ]+)\]$/)?.[1]?.split(", ").map(Number);
      assert.ok(background.every(({ pid }) => told?.includes(pid)), `${told} are told`);
      await editor.request("session/close", { sessionId: session });
      await waitGone(background, 2000);
    }));
}

for (
  const [command, process] of [
    ["echo begun; sleep 312 & wait", "sleep 312"],
    ["echo begun; bash -c 'sleep 313 | cat'", "sleep 313"],
  ] as const
) {
  test(`the timeout ends all of: ${command}`, () =>
    withProject(async (p) => {
      const { editor, session, results } = await start(p, [bash(command, { timeout: 1 })]);
      const began = performance.now();
      const asked = editor.prompt(session, "go");
      const all = await started(p, editor.mm, process);
      await asked;
      const ms = performance.now() - began;
      assert.ok(ms > 1000 && ms < 4000, `it took ${Math.round(ms)} ms`);
      assert.match(
        results()[0] ?? "",
        /^begun\n\[timed out after 1 s, ended with all it started; timeout may be up to 600 s\]$/,
      );
      await waitGone(all, 100);
    }));
}

test("a cancelled command that ignores TERM is killed", () =>
  withProject(async (p) => {
    const { editor, session } = await start(p, [bash("trap '' TERM; sleep 314 & sleep 315")]);
    const asked = editor.prompt(session, "go");
    const all = [
      ...await started(p, editor.mm, "sleep 314"),
      ...await started(p, editor.mm, "sleep 315"),
    ];
    const began = performance.now();
    editor.cancel(session);
    assert.equal((await asked).stopReason, "cancelled");
    await waitGone(all, 2000);
    assert.ok(performance.now() - began < 2000);
    assert.equal(editor.toolCalls(session)[0].status, "failed");
  }));

/** Resident memory of a process in MiB. */
async function residentMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(status.match(/VmRSS:\s+(\d+) kB/)?.[1] ?? 0) / 1024;
}

for (
  const [command, bytes] of [
    ["yes | head -c 300000000", 300_000_000],
    ["head -c 50000000 /dev/urandom", undefined],
  ] as const
) {
  test(`memory stays bounded and the middle is left out: ${command}`, () =>
    withProject(async (p) => {
      const { editor, session, results } = await start(p, [
        bash("true"),
        bash(command, { timeout: 120 }),
      ]);
      let most = 0;
      let before = 0;
      let over = false;
      const watching = (async () => {
        while (!over) {
          const now = await residentMiB(editor.mm.pid);
          // The first, small command has loaded the code that runs commands.
          if (before === 0 && editor.toolCalls(session).length > 1) before = now;
          most = Math.max(most, now);
          await sleep(20);
        }
      })();
      await editor.request("session/prompt", {
        sessionId: session,
        prompt: [{ type: "text", text: "go" }],
      }, { timeoutMs: 120_000 });
      over = true;
      await watching;
      assert.ok(before > 0);
      assert.ok(most - before < 150, `memory grew from ${before} to ${most} MiB`);
      const result = results()[1] ?? "";
      assert.ok(result.length <= 20_000, `the result has ${result.length} characters`);
      assert.ok(result.isWellFormed());
      assert.match(result, /\n\[exit status 0\]$/);
      const [, left, total] =
        result.match(/\[\.\.\. (\d+) of (\d+) characters left out \.\.\.\]/) ??
          [];
      if (bytes !== undefined) {
        assert.equal(Number(total), bytes);
        const kept = result.split("\n").filter((line) => line === "y").length;
        // Each "y" is two characters with its line end; one may be cut at each side.
        assert.ok(Math.abs(bytes - Number(left) - 2 * kept) <= 4, `${left} left, ${kept} kept`);
      }
      assert.ok(Number(total) > 10_000_000, "the whole output was counted");
      const sent = editor.mm.bytesOf("stdout").length;
      assert.ok(sent < 40_000_000, `the editor was sent ${sent} bytes`);
    }));
}

test("a cut never splits a character, wherever it falls", () =>
  withProject(async (p) => {
    const offsets = [0, 1, 2, 3];
    const { results } = await run(
      p,
      offsets.map((n) =>
        `printf '%*s' ${n} ''; for i in $(seq 2000); do printf '\\xf0\\x9f\\x98\\x80'; done`
      ),
      { maxOutput: 3001 },
    );
    for (const result of results) {
      assert.ok(result.isWellFormed(), "no half of a surrogate pair");
      assert.ok(!result.includes("\ufffd"), "no broken character");
      assert.ok(result.length <= 3001 && result.length > 2000, `${result.length} characters`);
      assert.match(result, /\[\.\.\. \d+ of 400\d characters left out \.\.\.\]/);
    }
  }));

test("a character that comes in two pieces is one; half of one is marked", () =>
  withProject(async (p) => {
    const { results } = await run(p, [
      "printf '\\xf0\\x9f'; sleep 0.1; printf '\\x98\\x80!\\n'",
      "printf 'a\\xf0\\x9f'",
    ]);
    assert.deepEqual(results, ["😀!\n[exit status 0]", "a\ufffd\n[exit status 0]"]);
  }));

test("the result tells how the command ended", () =>
  withProject(async (p) => {
    const { results } = await run(p, [
      "no-such-command-at-all",
      "echo out; echo err >&2; exit 3",
      "kill -9 $$",
      "kill -TERM $$",
      "bash -c 'kill -SEGV $$'",
      "",
      "if then fi",
    ]);
    const expected = [
      /no-such-command-at-all: command not found\n\[exit status 127\]$/,
      /^out\nerr\n\[exit status 3\]$/,
      /^\[no output\] \[killed by SIGKILL\]$/,
      /^\[no output\] \[killed by SIGTERM\]$/,
      /\[(exit status 139|killed by SIGSEGV)\]$/,
      /it is empty/,
      /syntax error[^]*\[exit status 2\]$/,
    ];
    for (const [i, shows] of expected.entries()) assert.match(results[i] ?? "", shows);
  }));

test("a working directory that is gone is named, and the turn goes on", () =>
  withProject(async (p) => {
    await p.write("sub/file", "");
    const { server, editor } = await start(p, [bash("pwd"), bash("echo again")]);
    const session = await editor.newSession({ cwd: p.path("sub") });
    await rm(p.path("sub"), { recursive: true });
    const { stopReason } = await editor.prompt(session, "go");
    assert.equal(stopReason, "end_turn");
    const results = server.requests.at(-1)?.messages.filter(({ role }) => role === "tool") ?? [];
    assert.equal(results.length, 2);
    for (const { content } of results) {
      assert.match(String(content), /^Cannot .*"[^"]*\/sub": there is no such directory$/);
    }
    assert.equal(editor.text(session), "done");
  }));
