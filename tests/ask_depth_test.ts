/** Chains: you ask bob, bob asks riker, riker asks nobody, whoever tries and however. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { OWN_PERMISSIONS } from "../lib/platform/own_permissions.ts";
import type { AcpEditor } from "./support/acp_editor.ts";
import { askAgent, bash, type Keys, writeAgents } from "./support/agents.ts";
import {
  always,
  forModel,
  inOrder,
  type ModelServer,
  onUser,
  type Reply,
  type Rule,
} from "./support/model_server.ts";
import { type Program, programUnderTest, runsFromSource } from "./support/program.ts";
import { type TestProject, withProject } from "./support/project.ts";
import { onlyLeft, resultsOf } from "./support/script.ts";

interface Chain {
  readonly p: TestProject;
  readonly server: ModelServer;
  readonly editor: AcpEditor;
  readonly session: string;
}

/** A project in which you ask bob and bob asks riker, each with his one `ask_agent`. */
function withChain(
  riker: readonly Rule[],
  keys: { readonly you?: Keys; readonly bob?: Keys; readonly riker?: Keys },
  body: (chain: Chain) => Promise<void>,
): Promise<void> {
  return withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel("you", onUser("go", { toolCalls: [askAgent("bob", "down")] })),
        forModel("you", onUser("again", { toolCalls: [askAgent("bob", "short")] })),
        forModel("you", always({ text: "You are done." })),
        forModel(
          "bob",
          onUser("down", { toolCalls: [askAgent("riker", "dig")] }),
          onUser("short", { text: "Still here." }),
          always({ text: "Bob is done." }),
        ),
        forModel("riker", ...riker),
      ],
    });
    await writeAgents(p, { server, ...keys });
    const editor = p.editor();
    await body({ p, server, editor, session: await editor.start() });
  });
}

const YOLO = { you: { yolo: true } };

test("you ask bob, bob asks riker, and each gets the answer he asked for", () =>
  withChain([always({ text: "42" })], YOLO, async ({ server, editor, session }) => {
    assert.equal((await editor.prompt(session, "go")).stopReason, "end_turn");
    assert.deepEqual(server.requests.map((r) => r.model), ["you", "bob", "riker", "bob", "you"]);
    assert.deepEqual([resultsOf(server), resultsOf(server, "you")], [["42"], ["Bob is done."]]);
  }));

test("bob may ask: he is offered ask_agent; riker may not: he is not", () =>
  withChain([always({ text: "42" })], YOLO, async ({ server, editor, session }) => {
    await editor.prompt(session, "go");
    const offered = (model: string) =>
      server.requests.find((r) => r.model === model)?.toolNames.includes("ask_agent");
    assert.deepEqual(["you", "bob", "riker"].map(offered), [true, true, false]);
  }));

test("a call of ask_agent that riker's model makes up starts nobody and tells it to finish by itself", () =>
  withChain(
    [inOrder({ toolCalls: [askAgent("bob", "on")] }, { text: "I did it myself." })],
    YOLO,
    async ({ server, editor, session }) => {
      await editor.prompt(session, "go");
      const [result] = resultsOf(server, "riker");
      assert.match(result ?? "", /^Not run: /);
      assert.match(result ?? "", /finish the work with your own tools/);
      assert.equal(server.requests.filter((r) => r.model === "bob").length, 2);
      assert.deepEqual(resultsOf(server), ["I did it myself."]);
    },
  ));

test("agents that all always ask come to an end, with one process for each", () =>
  withProject(async (p) => {
    const ask = (agent: string): Rule => (r) =>
      r.messages.some((m) => m.role === "tool")
        ? { text: "enough" }
        : { toolCalls: [askAgent(agent, "go on"), bash("echo $PPID")] };
    const server = await p.model({
      reply: [
        forModel("you", ask("bob")),
        forModel("bob", ask("riker")),
        forModel("riker", ask("bob")),
      ],
    });
    await writeAgents(p, { server, you: { yolo: true } });
    const editor = p.editor();
    const session = await editor.start();
    assert.equal((await editor.prompt(session, "go")).stopReason, "end_turn");
    assert.equal(server.requests.length, 6);
    const pids = ["you", "bob", "riker"].map((model) =>
      /^\d+/.exec(resultsOf(server, model)[1] ?? "")?.[0]
    );
    assert.equal(new Set(pids).size, 3, `${pids}`);
    assert.ok(pids.every((pid) => pid !== undefined), `${pids}`);
  }));

test("an editor that serves riker is offered no /ask, and a typed one is refused with the reason", () =>
  withProject(async (p) => {
    const server = await p.model({});
    await writeAgents(p, { server });
    const editor = p.editor(["-config", "riker.yaml"], { env: { MM_ASK_DEPTH: "2" } });
    const session = await editor.start();
    const { update } = await editor.waitForUpdate((u) => u.kind === "available_commands_update");
    const names: string[] = update.availableCommands.map((c: { name: string }) => c.name);
    assert.deepEqual(names.filter((name) => name.startsWith("ask")), []);
    for (const typed of ["/ask bob q", "/ask-bob q", "/ask-with-context-bob q"]) {
      const before = editor.text(session).length;
      const reply = await editor.prompt(session, typed).catch((error: Error) => error);
      const words = `${editor.text(session).slice(before)} ${JSON.stringify(reply)} ${
        reply instanceof Error ? reply.message : ""
      }`;
      assert.match(words, /finish the work with your own tools/, typed);
    }
    assert.equal(server.requests.length, 0);
  }));

test("an editor that serves bob is offered /ask-riker, and it works", () =>
  withProject(async (p) => {
    const server = await p.model({ reply: forModel("riker", always({ text: "42" })) });
    await writeAgents(p, { server });
    const editor = p.editor(["-config", "bob.yaml"], { env: { MM_ASK_DEPTH: "1" } });
    const session = await editor.start();
    const { update } = await editor.waitForUpdate((u) => u.kind === "available_commands_update");
    assert.match(JSON.stringify(update.availableCommands), /"ask-riker"/);
    await editor.prompt(session, "/ask-riker q");
    assert.equal(editor.text(session), "42");
  }));

test("mm --ask in riker's place is refused with status 3 and the reason, in bob's it asks", () =>
  withProject(async (p) => {
    const server = await p.model({ reply: forModel("riker", always({ text: "42" })) });
    await writeAgents(p, { server });
    const [riker, bob] = await Promise.all([
      p.runMm(["-config", "riker.yaml", "--ask", "bob", "q"], { env: { MM_ASK_DEPTH: "2" } }),
      p.runMm(["-config", "bob.yaml", "--ask", "riker", "q"], { env: { MM_ASK_DEPTH: "1" } }),
    ]);
    assert.deepEqual([riker.code, riker.stdout], [3, ""]);
    assert.match(riker.stderr, /bob was refused: .*a chain of asks ends after 2 agents/);
    assert.deepEqual([bob.code, bob.stdout], [0, "42\n"]);
    assert.equal(server.requests.length, 1);
  }));

test("a depth that is no number allows nobody", () =>
  withProject(async (p) => {
    const server = await p.model({});
    await writeAgents(p, { server });
    const runs = await Promise.all(
      ["-1", "", "0x0", "1e-9"].map((depth) =>
        p.runMm(["--ask", "bob", "q"], { env: { MM_ASK_DEPTH: depth } })
      ),
    );
    assert.deepEqual(runs.map((run) => run.code), [3, 3, 3, 3]);
    assert.equal(server.requests.length, 0);
  }));

/** This mm without `MM_BIN`, as it starts itself: with the permissions it has and no more. */
const PLAIN = selfCommandOf(programUnderTest()).map((word) => `"${word}"`).join(" ");

/** How a model might try to get around its depth, as functions of how mm is called. */
const TRICKS: readonly (readonly [string, (ask: string) => string])[] = [
  ["sets the depth to 0", (ask) => `MM_ASK_DEPTH=0 ${ask}`],
  ["sets the depth to -1", (ask) => `MM_ASK_DEPTH=-1 ${ask}`],
  ["drops the depth", (ask) => `env -u MM_ASK_DEPTH ${ask}`],
  ["drops the environment", (ask) => `env -i PATH="$PATH" DENO_DIR="$DENO_DIR" ${ask}`],
  ["asks from a shell of its own", (ask) => `unset MM_ASK_DEPTH; bash -c '${ask}; exit "$?"'`],
  ["asks in a session of its own", (ask) => `env -u MM_ASK_DEPTH setsid --wait ${ask}`],
];

/** Tries that leave the process that ran them behind, which only `MM_BIN` sees through. */
const DETACHED: typeof TRICKS = [
  ["detaches the ask", (ask) => `env -u MM_ASK_DEPTH setsid --fork ${ask} > log 2>&1`],
  ["leaves the ask behind", (ask) => `(unset MM_ASK_DEPTH; ${ask} > log 2>&1 &)`],
];

for (
  const [what, bin, tricks] of [
    ["", '"$MM_BIN"', TRICKS],
    [" without MM_BIN", PLAIN, TRICKS],
    [" and leaves its process", '"$MM_BIN"', DETACHED],
  ] as const
) {
  for (const [trick, line] of tricks) {
    test(`a command of riker's that ${trick}${what} asks nobody`, () =>
      withProject(async (p) => {
        const command = line(`${bin} -config "$PWD/riker.yaml" --ask bob q`);
        const server = await p.model({
          reply: [
            forModel(
              "riker",
              inOrder({ toolCalls: [bash(`${command}; echo "status $?"`)] }, { text: "done" }),
            ),
            forModel("bob", always({ text: "ASKED" })),
          ],
        });
        await writeAgents(p, { server });
        const editor = p.editor(["-config", "riker.yaml"], { env: { MM_ASK_DEPTH: "2" } });
        editor.onPermission = "allow_once";
        const session = await editor.start();
        await editor.prompt(session, "go");
        let said = resultsOf(server, "riker")[0] ?? "";
        if (tricks === DETACHED) {
          await onlyLeft(p, [editor.mm.pid], 10_000);
          said += await p.read("log");
        } else assert.match(said, /^status 3$/m);
        assert.match(said, /bob was refused: .*finish the work with your own tools/);
        assert.deepEqual(server.requests.map((r) => r.model), ["riker", "riker"]);
      }));
  }
}

test("a command of bob's asks riker once more, and riker's calls need somebody who permits", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel("you", inOrder({ toolCalls: [askAgent("bob", "work")] }, { text: "done" })),
        forModel(
          "bob",
          inOrder(
            { toolCalls: [bash('MM_ASK_DEPTH=0 AGENT_YOLO=true "$MM_BIN" --ask riker dig')] },
            { text: "finished" },
          ),
        ),
        forModel("riker", inOrder({ toolCalls: [bash("touch one")] }, { text: "I could not." })),
      ],
    });
    await writeAgents(p, { server, you: { yolo: true }, bob: { yolo: true } });
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "go");
    assert.match(resultsOf(server)[0] ?? "", /^I could not\.$/m);
    assert.match(resultsOf(server, "riker")[0] ?? "", /was itself asked.*nobody is there/);
    assert.ok(!p.exists("one"));
  }));

test("questions along a chain name everyone between: bob, bob/riker", () =>
  withChain(
    [inOrder({ toolCalls: [bash("touch one")] }, { text: "42" })],
    { bob: { yolo: true }, riker: { yolo: true } },
    async ({ p, editor, session }) => {
      editor.onPermission = "allow_once";
      await editor.prompt(session, "go");
      const asked = editor.permissions.map((q) => q.toolCall.title);
      assert.equal(asked.length, 3, asked.join("\n"));
      assert.match(asked[0], /^bob: down/);
      assert.match(asked[1], /bob\/ask_agent.*riker: dig/);
      assert.match(asked[2], /bob\/riker\/bash.*touch one/);
      assert.ok(editor.permissions.every((q) => q.sessionId === session));
      assert.ok(p.exists("one"));
    },
  ));

test("a call of riker's that you reject is refused to him alone", () =>
  withChain(
    [inOrder({ toolCalls: [bash("touch one")] }, { text: "I was not allowed." })],
    { you: { permissions: { allow: ["ask_agent", "bob/ask_agent"] } } },
    async ({ p, server, editor, session }) => {
      editor.onPermission = "reject_once";
      const { stopReason } = await editor.prompt(session, "go");
      assert.equal(stopReason, "end_turn");
      assert.equal(editor.permissions.length, 1);
      assert.match(resultsOf(server, "riker")[0] ?? "", /rejected this call of bash/);
      assert.deepEqual(resultsOf(server), ["I was not allowed."]);
      assert.ok(!p.exists("one"));
    },
  ));

test("rules of yours reach down the chain: a deny for bob/riker/bash, and allows by the full name", () =>
  withChain(
    [inOrder({ toolCalls: [bash("touch one"), bash("touch two")] }, { text: "ok" })],
    {
      you: {
        permissions: {
          allow: ["ask_agent", "bob/ask_agent", "bob/riker/bash(touch one)", "bob/bash", "bash"],
          deny: ["bob/riker/bash(touch two)"],
        },
      },
    },
    async ({ p, server, editor, session }) => {
      await editor.prompt(session, "go");
      assert.equal(editor.permissions.length, 0);
      assert.deepEqual([p.exists("one"), p.exists("two")], [true, false]);
      assert.match(resultsOf(server, "riker")[1] ?? "", /denies/);
    },
  ));

test("bob cannot give riker what you did not: neither his yolo nor his entry's counts", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel("bob", onUser("down", { toolCalls: [askAgent("riker", "dig")] })),
        forModel("bob", always({ text: "Bob is done." })),
        forModel("riker", inOrder({ toolCalls: [bash("touch one")] }, { text: "no" })),
      ],
    });
    const entry = { path: "riker.yaml", yolo: true };
    const allow = ["bash", "riker/bash", "ask_agent"];
    await writeAgents(p, {
      server,
      bob: { yolo: true, permissions: { allow }, mmConfigs: { riker: entry } },
      riker: { yolo: true, permissions: { allow: ["bash"] } },
    });
    const editor = p.editor();
    editor.onPermission = (q) =>
      q.choose(/touch one/.test(q.toolCall.title) ? "reject_once" : "allow_once");
    const session = await editor.start();
    await editor.prompt(session, "/ask-bob down");
    assert.equal(editor.permissions.length, 2);
    assert.ok(!p.exists("one"));
  }));

test("riker's text and calls reach you inside bob's call, while he works", () => {
  const release = Promise.withResolvers<void>();
  const said: Reply = { chunks: ["I dig.", " Deeper."], holdAfter: 1, holdUntil: release.promise };
  return withChain(
    [inOrder({ toolCalls: [bash("echo found")] }, said)],
    YOLO,
    async ({ editor, session }) => {
      const turn = editor.prompt(session, "go");
      await editor.waitForUpdate((u) =>
        u.kind === "tool_call_update" && /I dig\./.test(JSON.stringify(u.update.content ?? ""))
      );
      release.resolve();
      await turn;
      const [bob, riker, call] = editor.toolCalls(session);
      assert.deepEqual(
        [bob, riker, call].map((one) => [one.name, one.status]),
        [["ask_agent", "completed"], ["bob/ask_agent", "completed"], [
          "bob/riker/bash",
          "completed",
        ]],
      );
      assert.deepEqual(
        [riker, call].map((one) => one._meta.mm.parentCallId),
        [bob.toolCallId, riker.toolCallId],
      );
      assert.match(JSON.stringify(call.content), /found/);
      assert.equal(editor.text(session), "You are done.");
    },
  );
});

test("a cancel goes down the chain to riker's model, and all stay usable", () =>
  withChain([always({ hang: true })], YOLO, async ({ server, editor, session }) => {
    const turn = editor.prompt(session, "go");
    const request = await server.waitForRequest((r) => r.model === "riker");
    const before = performance.now();
    editor.cancel(session);
    assert.equal((await turn).stopReason, "cancelled");
    await request.aborted;
    assert.ok(performance.now() - before < 3000);
    assert.ok(editor.toolCalls(session).every((call) => call.status === "failed"));
    await editor.prompt(session, "again");
    assert.deepEqual(resultsOf(server, "you").at(-1), "Still here.");
  }));

test("a cancel ends riker's open question and his command with it", () =>
  withChain(
    [always({ toolCalls: [bash("touch one")] })],
    { you: { permissions: { allow: ["ask_agent", "bob/ask_agent"] } } },
    async ({ p, editor, session }) => {
      const turn = editor.prompt(session, "go");
      const question = await editor.waitForPermission();
      editor.cancel(session);
      question.cancel();
      assert.equal((await turn).stopReason, "cancelled");
      assert.ok(!p.exists("one"));
    },
  ));

test("Ctrl-C ends an ask of a script down to riker", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel("bob", always({ toolCalls: [askAgent("riker", "dig")] })),
        forModel("riker", always({ hang: true })),
      ],
    });
    await writeAgents(p, { server, you: { yolo: true } });
    const mm = p.mm(["--ask", "bob", "q"], { stdin: "" });
    const request = await server.waitForRequest((r) => r.model === "riker");
    mm.signal("SIGINT");
    assert.equal((await mm.exit).code, 130);
    await request.aborted;
    await onlyLeft(p, [], 2000);
  }));

/** The program as mm starts it again itself. */
function selfCommandOf(program: Program): readonly string[] {
  return runsFromSource()
    ? program.flatMap((word) => word === "-A" ? OWN_PERMISSIONS : [word])
    : program;
}
