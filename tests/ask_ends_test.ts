/** Each way an ask can end, with an ask in which it happens. */
import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import type { AcpEditor } from "./support/acp_editor.ts";
import { askAgent, bash, type Keys, writeAgents } from "./support/agents.ts";
import { type Behaviour, fakeAgent, type FakeAgentOptions } from "./support/fake_agent.ts";
import { always, forModel, inOrder, type ModelServer, onUser } from "./support/model_server.ts";
import { type TestProject, withProject } from "./support/project.ts";

/** Asks bob in a fresh session and returns the words the ask failed with. */
async function failure(editor: AcpEditor, session: string, question = "q"): Promise<string> {
  try {
    await editor.prompt(session, `/ask-bob ${question}`);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error("The ask did not fail");
}

async function withBob(
  bob: {
    readonly entry?: Keys;
    readonly keys?: Keys;
    readonly reply?: Parameters<TestProject["model"]>[0];
  },
  body: (parts: {
    readonly p: TestProject;
    readonly server: ModelServer;
    readonly editor: AcpEditor;
    readonly session: string;
  }) => Promise<void>,
): Promise<void> {
  await withProject(async (p) => {
    const server = await p.model(bob.reply ?? {});
    await writeAgents(p, {
      server,
      you: { yolo: true },
      ...(bob.entry === undefined ? {} : { bobEntry: bob.entry }),
      ...(bob.keys === undefined ? {} : { bob: bob.keys }),
    });
    const editor = p.editor();
    await body({ p, server, editor, session: await editor.start() });
  });
}

function fake(behaviour: Behaviour, more: Partial<FakeAgentOptions> = {}): Keys {
  return { command: fakeAgent({ behaviour, ...more }) };
}

/** The pid of bob's process, found by its command line. */
async function pidOf(p: TestProject, editor: AcpEditor, needle: string): Promise<number> {
  const { readdir, readFile } = await import("node:fs/promises");
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const read = (file: string) => readFile(`/proc/${name}/${file}`, "utf8").catch(() => "");
    if (!(await read("environ")).includes(p.mark)) continue;
    const line = await read("cmdline");
    if (Number(name) !== editor.mm.pid && line.includes(needle) && line.includes("-acp")) {
      return Number(name);
    }
  }
  throw new Error("Bob does not run");
}

test("bob killed in the middle of his answer: who died, how, and the text so far; the next ask works", () =>
  withBob({
    reply: {
      reply: [
        forModel(
          "bob",
          onUser("first", { chunks: ["It begins", " and"], holdAfter: 1, hang: true }),
          onUser("second", { text: "alive" }),
        ),
        forModel("you", always({ text: "ok" })),
      ],
    },
  }, async ({ p, server, editor, session }) => {
    const asked = failure(editor, session, "first");
    await editor.waitForText(session, "It begins");
    const started = performance.now();
    process.kill(await pidOf(p, editor, "bob.yaml"), "SIGKILL");
    assert.match(await asked, /bob was killed by SIGKILL/);
    assert.ok(performance.now() - started < 3000, "no time limit is waited for");
    await editor.prompt(session, "/ask-bob second");
    assert.match(editor.text(session), /alive$/);
    await editor.prompt(session, "and you?");
    const pair = server.requests.at(-1)?.messages.slice(1, 3);
    assert.deepEqual(pair, [
      { role: "user", content: "[asked bob (llamacpp/bob): first]" },
      { role: "assistant", content: "[bob's answer]\nIt begins\n[bob was killed by SIGKILL]" },
    ]);
  }));

test("bob that cannot start: the program and the reason", () =>
  withBob(
    { entry: { command: ["no-such-program-of-bob", "--acp"] } },
    async ({ editor, session }) => {
      assert.match(
        await failure(editor, session),
        /bob failed: it could not start: .*"?no-such-program-of-bob"?.*(does not exist|not found|ENOENT)/,
      );
    },
  ));

test("bob whose configuration is broken: the file, the line and the key", () =>
  withProject(async (p) => {
    const server = await p.model({});
    await writeAgents(p, { server });
    await p.write("bob.yaml", "provider: llamacpp\nmodle: x\n");
    const editor = p.editor();
    const session = await editor.start();
    assert.match(
      await failure(editor, session),
      /bob failed: it could not start: its process exited with status 2; its last words: mm: .*bob\.yaml:2:1.*"modle".*"model"/s,
    );
  }));

test("bob whose file does not exist", () =>
  withBob({ entry: { path: "nobody.yaml" } }, async ({ editor, session }) => {
    assert.match(
      await failure(editor, session),
      /could not start.*status 2.*nobody\.yaml.*does not exist/s,
    );
  }));

test("bob that is silent times out by his own entry, and is usable afterwards", () =>
  withBob({
    entry: { timeout: "2s" },
    reply: {
      reply: forModel("bob", onUser("first", { hang: true }), onUser("second", { text: "yes" })),
    },
  }, async ({ server, editor, session }) => {
    assert.match(
      await failure(editor, session, "first"),
      /bob timed out after 2 s without a sign of life/,
    );
    await server.requests[0]?.aborted;
    await editor.prompt(session, "/ask-bob second");
    assert.equal(editor.text(session), "yes");
  }));

test("bob cancelled: the cancel goes down to his model and his command, and he stays usable", () =>
  withBob({
    reply: {
      reply: forModel(
        "bob",
        onUser("first", { toolCalls: [bash("echo begun; sleep 300")] }),
        onUser("second", { text: "still here" }),
      ),
    },
  }, async ({ p, editor, session }) => {
    const turn = editor.prompt(session, "/ask-bob first");
    await editor.waitForUpdate((u) => /begun/.test(JSON.stringify(u.update.content ?? "")));
    const bob = await pidOf(p, editor, "bob.yaml");
    const started = performance.now();
    editor.cancel(session);
    assert.equal((await turn).stopReason, "cancelled");
    assert.ok(performance.now() - started < 2000);
    assert.equal(editor.toolCalls(session)[0].status, "failed");
    await editor.prompt(session, "/ask-bob second");
    assert.equal(editor.text(session), "still here");
    assert.equal(await pidOf(p, editor, "bob.yaml"), bob, "the same process answers");
  }));

test("an ask that the model made is cancelled with its turn, and the history stays valid", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel(
          "you",
          onUser("go", { toolCalls: [askAgent("bob", "x")] }),
          onUser("next", { text: "ok" }),
        ),
        forModel("bob", always({ hang: true })),
      ],
    });
    await writeAgents(p, { server, you: { yolo: true } });
    const editor = p.editor();
    const session = await editor.start();
    const turn = editor.prompt(session, "go");
    const request = await server.waitForRequest((r) => r.model === "bob");
    editor.cancel(session);
    assert.equal((await turn).stopReason, "cancelled");
    await request.aborted;
    await editor.prompt(session, "next");
    assert.deepEqual(server.requests.at(-1)?.messages.slice(-4).map((m) => m.role), [
      "assistant",
      "tool",
      "assistant",
      "user",
    ]);
  }));

test("an agent that does not answer to a cancel is ended, and started anew by the next ask", () =>
  withBob({ entry: fake("ignore_cancel") }, async ({ p, editor, session }) => {
    const turn = editor.prompt(session, "/ask-bob first");
    await editor.waitForUpdate((u) => u.kind === "agent_message_chunk");
    const bob = await pidOfFake(p);
    editor.cancel(session);
    const started = performance.now();
    assert.equal((await turn).stopReason, "cancelled");
    assert.ok(performance.now() - started < 3000, "who cancels does not wait for him");
    await gone(bob, 8000);
    const shown = editor.updates.length;
    const again = editor.prompt(session, "/ask-bob second");
    await editor.waitForUpdate((u) =>
      u.kind === "agent_message_chunk" && editor.updates.indexOf(u) >= shown
    );
    assert.notEqual(await pidOfFake(p), bob);
    editor.cancel(session);
    await again;
  }));

test("an agent that stops at a limit is no complete answer", () =>
  withBob({
    reply: {
      reply: [
        forModel("bob", always({ text: "half an", finish: "length" })),
        forModel("you", always({ text: "ok" })),
      ],
    },
  }, async ({ server, editor, session }) => {
    const { stopReason } = await editor.prompt(session, "/ask-bob q");
    assert.equal(stopReason, "max_tokens");
    await editor.prompt(session, "go on");
    assert.equal(
      server.requests.at(-1)?.messages[2]?.content,
      "[bob's answer]\nhalf an\n[bob stopped before the end: output limit]",
    );
  }));

test("turn limit and refusal reach the model that asked", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel(
          "you",
          inOrder({ toolCalls: [askAgent("bob", "x"), askAgent("eve", "y")] }, { text: "ok" }),
        ),
        forModel("bob", always({ toolCalls: [bash("true")] })),
      ],
    });
    await writeAgents(p, {
      server,
      you: { yolo: true },
      bob: { maxTurns: 2 },
      entries: { eve: fake("stop_reason", { text: "refusal" }) },
    });
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "go");
    const [bob, eve] = server.requests.at(-1)?.messages.filter((m) => m.role === "tool") ?? [];
    assert.match(String(bob?.content), /\[bob stopped before the end: turn limit\]/);
    assert.match(String(eve?.content), /\[eve stopped before the end: the model refused\]/);
  }));

for (
  const [what, behaviour, words] of [
    ["speaks no ACP", "no_acp", /bob failed: it speaks no ACP/],
    ["speaks another version", "wrong_version", /bob failed: it speaks no ACP.*99/],
    ["refuses a session", "no_session", /bob failed: /],
    ["answers with an error", "error", /bob failed: .*the words of the error/],
  ] as const
) {
  test(`an agent that ${what} has an end of its own`, () =>
    withBob(
      { entry: { ...fake(behaviour, { text: "the words of the error" }), timeout: "2s" } },
      async ({ editor, session }) => {
        assert.match(await failure(editor, session), words);
      },
    ));
}

test("an agent that ends at once: its status and its last words", () =>
  withBob(
    { entry: fake("exit", { exitCode: 7, stderr: "cannot find my hat" }) },
    async ({ editor, session }) => {
      assert.match(
        await failure(editor, session),
        /bob failed: it could not start: its process exited with status 7; its last words: cannot find my hat/,
      );
    },
  ));

test("an agent that dies in mid-answer: its status, its last words, the text so far", () =>
  withBob(
    { entry: fake("die", { exitCode: 3, stderr: "out of memory", text: "so far" }) },
    async ({ editor, session }) => {
      assert.match(
        await failure(editor, session),
        /bob exited with status 3; its last words: out of memory/,
      );
      assert.match(editor.text(session), /^so /);
    },
  ));

for (const behaviour of ["noise", "unknown_updates", "early_update", "late_update"] as const) {
  test(`an agent with ${behaviour.replace("_", " ")} on its wire still answers`, () =>
    withBob({ entry: fake(behaviour, { text: "the answer" }) }, async ({ editor, session }) => {
      const { stopReason } = await editor.prompt(session, "/ask-bob q");
      assert.equal(stopReason, "end_turn");
      assert.equal(editor.text(session), "the answer");
    }));
}

test("an agent that asks for files is told that there is no such method", () =>
  withBob({ entry: fake("read_file") }, async ({ editor, session }) => {
    await editor.prompt(session, "/ask-bob q");
    assert.match(editor.text(session), /-32601/);
  }));

test("two permission questions of an agent at the same time are each shown and answered once", () =>
  withProject(async (p) => {
    const server = await p.model({});
    await writeAgents(p, { server, bobEntry: fake("two_permissions") });
    const editor = p.editor();
    const session = await editor.start();
    const turn = editor.prompt(session, "/ask-bob q");
    (await editor.waitForPermission()).choose("allow_once");
    (await editor.waitForPermission()).choose("reject_once");
    await turn;
    assert.equal(editor.permissions.length, 2);
    assert.equal(editor.text(session), "permissions: one=yes, two=no");
  }));

async function pidOfFake(p: TestProject): Promise<number> {
  const { readdir, readFile } = await import("node:fs/promises");
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const read = (file: string) => readFile(`/proc/${name}/${file}`, "utf8").catch(() => "");
    if (!(await read("environ")).includes(p.mark)) continue;
    if ((await read("cmdline")).includes("fake_agent")) return Number(name);
  }
  throw new Error("The fake agent does not run");
}

async function gone(pid: number, withinMs: number): Promise<void> {
  const end = performance.now() + withinMs;
  while (performance.now() < end) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`Process ${pid} still runs after ${withinMs} ms`);
}
