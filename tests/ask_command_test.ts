/** Asking from a command: skills and scripts that mm's own `bash` tool runs. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { bash, writeAgents } from "./support/agents.ts";
import {
  always,
  forModel,
  inOrder,
  type ModelServer,
  onUser,
  type Rule,
} from "./support/model_server.ts";
import type { MmProcess } from "./support/mm.ts";
import { type TestProject, withProject } from "./support/project.ts";
import { onlyLeft, resultsOf, type Script, until, withBob } from "./support/script.ts";

/** A project whose model runs one command in its `bash` tool. */
function withCommand(
  command: string,
  script: Script & { readonly more?: readonly Rule[] },
  body: (
    parts: {
      readonly p: TestProject;
      readonly server: ModelServer;
      /** What the command printed, as your model was given it. */
      readonly result: () => Promise<string>;
      readonly mm: MmProcess;
      /** Cancels the turn. */
      readonly cancel: () => void;
    },
  ) => Promise<void>,
): Promise<void> {
  return withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel("you", onUser("go", { toolCalls: [bash(command)] }), ...script.more ?? []),
        forModel("you", always({ text: "done" })),
        forModel("bob", ...script.bob ?? []),
      ],
    });
    await writeAgents(p, {
      server,
      you: { yolo: true, ...script.you },
      ...(script.bobKeys === undefined ? {} : { bob: script.bobKeys }),
      ...(script.bobEntry === undefined ? {} : { bobEntry: script.bobEntry }),
    });
    const editor = p.editor();
    const session = await editor.start();
    const turn = editor.prompt(session, "go");
    const result = async () => {
      await turn;
      return resultsOf(server, "you").at(-1) ?? "";
    };
    const cancel = () => editor.cancel(session);
    await body({ p, server, result, mm: editor.mm, cancel });
    await turn;
  });
}

test("a skill calls this mm with this configuration, wherever it stands and whatever lies there", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel(
          "you",
          inOrder(
            {
              toolCalls: [
                bash('cd sub && q="a \\"quoted\\" question" && "$MM_BIN" --ask bob "$q"'),
              ],
            },
            { text: "done" },
          ),
        ),
        forModel("bob", always({ text: "from here" })),
      ],
    });
    await writeAgents(p, { server, you: { yolo: true } });
    await p.write("conf/agent.yaml", await p.read("agent.yaml"));
    await p.write("conf/bob.yaml", await p.read("bob.yaml"));
    await p.write("agent.yaml", "not: this one\n");
    await p.write("sub/agent.yaml", "nor: this\n");
    const editor = p.editor(["-config", "conf/agent.yaml"]);
    const session = await editor.start();
    await editor.prompt(session, "go");
    assert.match(resultsOf(server, "you").at(-1) ?? "", /^.*from here$/m);
    assert.equal(server.requests[1]?.lastUser, 'a "quoted" question');
  }));

test("-config comes before MM_CONFIG, and a file that does not exist is never passed over", () =>
  withBob({ bob: [always({ text: "ok" })] }, async (p) => {
    await p.write("other.yaml", "provider: demo\n");
    const other = { MM_CONFIG: p.path("other.yaml") };
    const [both, alone, none] = await Promise.all([
      p.runMm(["-config", "agent.yaml", "--ask", "bob", "q"], { env: other }),
      p.runMm(["--ask", "bob", "q"], { env: other }),
      p.runMm(["--ask", "bob", "q"], { env: { MM_CONFIG: p.path("none.yaml") } }),
    ]);
    assert.equal(both.stdout, "ok\n");
    assert.match(alone.stderr, /other\.yaml.*no agents/);
    assert.deepEqual([alone.code, none.code], [2, 2]);
    assert.match(none.stderr, /none\.yaml.*does not exist/);
  }));

test("the answer alone is what a command's output captures", () =>
  withCommand('x=$("$MM_BIN" --ask bob q 2>/dev/null); echo "<$x>"', {
    bob: [always({ text: "Because." })],
  }, async ({ result }) => {
    assert.match(await result(), /^<Because\.>\n\[exit status 0/);
  }));

test("the transcript is a private file without outputs, system prompt and reasoning, and goes with the question", () =>
  withCommand(
    'stat -c %a "$MM_TRANSCRIPT" "$(dirname "$MM_TRANSCRIPT")"; echo "$MM_TRANSCRIPT"; "$MM_BIN" --ask-with-context bob "Right?"',
    {
      you: { system: "SYSTEM PROMPT" },
      bob: [always({ text: "Right." })],
    },
    async ({ server, result, mm }) => {
      assert.match(await result(), /^600\n700\n/);
      const bob = server.requests.find((r) => r.model === "bob");
      assert.match(bob?.lastUser ?? "", /^User: go$/m);
      assert.match(bob?.lastUser ?? "", /^- bash stat -c %a/m);
      assert.match(bob?.lastUser ?? "", /Right\?$/);
      assert.doesNotMatch(bob?.raw ?? "", /SYSTEM PROMPT|^600/m);
      const [, , path = ""] = (await result()).split("\n");
      assert.ok(existsSync(path), path);
      await mm.stop();
      assert.ok(!existsSync(path), "it is gone with mm");
    },
  ));

test("a transcript of a long turn leaves out what the tools printed and what the model thought", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel(
          "you",
          inOrder(
            { reasoning: "SECRET THOUGHT", toolCalls: [bash("seq 1 11000; echo SECRET OUTPUT")] },
            { text: "It counts." },
            { toolCalls: [bash('"$MM_BIN" --ask-with-context bob "Right?"')] },
            { text: "done" },
          ),
        ),
        forModel("bob", always({ text: "x".repeat(30_000) })),
      ],
    });
    await writeAgents(p, {
      server,
      you: { yolo: true, system: "SYSTEM PROMPT", maxOutput: 2000 },
    });
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "Count");
    await editor.prompt(session, "Ask");
    const bob = server.requests.find((r) => r.model === "bob");
    assert.match(
      bob?.lastUser ?? "",
      /User: Count\n\n- bash seq 1 11000; echo SECRET OUTPUT\n\nAssistant: It counts\.\n\nUser: Ask\n\n- bash /,
    );
    assert.doesNotMatch(bob?.raw ?? "", /SYSTEM PROMPT|SECRET THOUGHT|10999/);
    const kept = resultsOf(server, "you").at(-1) ?? "";
    assert.ok(kept.length <= 2000, `${kept.length}`);
  }));

test("your environment is as it was after an ask: MM_BIN, MM_CONFIG and the depth are yours", () =>
  withProject(async (p) => {
    // MM_GROUP is the mark of one command and counts them.
    const print = 'env | grep -E "^(MM_|AGENT_)" | grep -v "^MM_GROUP=" | sort';
    const server = await p.model({
      reply: [
        forModel(
          "you",
          inOrder(
            { toolCalls: [bash(print)] },
            { text: "one" },
            { toolCalls: [bash(print)] },
            { text: "two" },
          ),
        ),
        forModel("bob", always({ text: "ok" })),
      ],
    });
    await writeAgents(p, { server, you: { yolo: true } });
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "before");
    await editor.prompt(session, "/ask-bob q");
    await editor.prompt(session, "after");
    const [before, after] = resultsOf(server, "you");
    assert.equal(after, before);
    assert.match(before ?? "", new RegExp(`^MM_CONFIG=${p.path("agent.yaml")}$`, "m"));
    assert.match(before ?? "", /^MM_ASK_DEPTH=0$/m);
    assert.doesNotMatch(before ?? "", /^AGENT_/m);
  }));

test("a bash budget that runs out ends mm --ask and a silent bob within two seconds", () =>
  withCommand('"$MM_BIN" --ask bob x; touch late', {
    you: { bashTimeout: "1s" },
    bob: [always({ hang: true })],
  }, async ({ p, result, mm }) => {
    assert.match(await result(), /timed out after 1 s/);
    await onlyLeft(p, [mm.pid], 2000);
    assert.ok(!p.exists("late"));
  }));

for (
  const [how, before] of [["in the command's own group", ""], [
    "in a session of its own",
    "setsid --wait ",
  ]] as const
) {
  test(`a bob that writes files stops when the command that asked him is cancelled, ${how}`, () =>
    withCommand(`${before}"$MM_BIN" --ask bob x`, {
      bob: [always({ toolCalls: [bash("while :; do echo x >> log; sleep 0.05; done")] })],
    }, async ({ p, result, mm, cancel }) => {
      await until(() => p.exists("log"));
      cancel();
      await result();
      await onlyLeft(p, [mm.pid], 2000);
      const size = (await p.read("log")).length;
      await sleep(300);
      assert.equal((await p.read("log")).length, size, "nothing is written afterwards");
    }));
}
