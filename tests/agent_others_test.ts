/** `agent` with the name of an asked agent that is another program: in the background, to every end. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { type AgentStage, endsIn, runCalls, textsOf, withStage } from "./support/agent_stage.ts";
import { delegate, type Keys } from "./support/agents.ts";
import { type Behaviour, fakeAgent, type FakeAgentOptions } from "./support/fake_agent.ts";
import { inOrder } from "./support/model_server.ts";
import { oneAgent } from "./support/one_agent.ts";
import { withProject } from "./support/project.ts";

type Fake = Partial<FakeAgentOptions> & { readonly behaviour: Behaviour };

/** Runs `body` with agents of another make, by name. */
function withOthers(
  fakes: Readonly<Record<string, Fake>>,
  body: (stage: AgentStage) => Promise<void>,
  keys: Keys = {},
): Promise<void> {
  const entries = Object.entries(fakes).map(([name, fake]) => [name, { command: fakeAgent(fake) }]);
  return withStage([], body, {
    mmConfigs: Object.fromEntries(entries),
    agents: { maxParallel: 8 },
    ...keys,
  });
}

/** A run of another's agent that is waited for. */
const inline = (name: string, prompt = "Go") =>
  delegate(prompt, { subagent_type: name, run_in_background: false });

test("another's agent works in the background, is listed, and goes on in the same conversation", () =>
  withOthers({ eve: { behaviour: "count" } }, async (stage) => {
    const id = await stage.start("Find it", { subagent_type: "eve" });
    const [ended = ""] = await stage.call(runCalls.wait(id));
    assert.deepEqual(endsIn(ended), [{ id, round: 1, status: "completed", result: "1: Find it" }]);
    const [list = ""] = await stage.call(runCalls.list());
    assert.match(
      list,
      new RegExp(`^${id} \\| eve \\| completed \\| .* \\| takes messages \\|`, "u"),
    );
    const [, again = ""] = await stage.rounds([runCalls.send(id, "And b?")], [runCalls.wait(id)])
      .then((results) => ["", ...results]);
    assert.deepEqual(endsIn(again), [{
      id,
      round: 2,
      status: "completed",
      result: "2: [message from the agent that started you]\nAnd b?",
    }]);
    // Each run has a conversation of its own, in the one process.
    const [inlined] = await stage.call(inline("eve", "Alone"));
    assert.equal(inlined, "1: Alone");
  }));

test("each way in which another's agent ends is told once, with what it said so far", () =>
  withOthers({
    dies: { behaviour: "die", exitCode: 3, text: "so far", stderr: "out of memory" },
    fails: { behaviour: "error", text: "no credits" },
    full: { behaviour: "stop_reason", text: "max_tokens" },
    refuses: { behaviour: "stop_reason", text: "refusal" },
    strange: { behaviour: "stop_reason", text: "tired" },
    closed: { behaviour: "no_session" },
    old: { behaviour: "wrong_version" },
  }, async (stage) => {
    const expected: Readonly<Record<string, readonly [string, RegExp]>> = {
      dies: ["died", /^so far\n\[dies exited with status 3; its last words: out of memory\]$/u],
      fails: ["failed", /^\[fails failed: .*no credits\]$/u],
      full: ["incomplete", /^partial\n\[full stopped before the end: output limit\]$/u],
      refuses: ["incomplete", /^partial\n\[refuses stopped before the end: the model refused\]$/u],
      strange: ["failed", /^partial\n\[strange failed: .*a reason mm does not know: "tired"\]$/u],
      closed: ["failed", /^\[closed failed: it wants a login first: No session today\]$/u],
      old: ["failed", /^\[old failed: it speaks no ACP: it speaks version 99/u],
    };
    const names = Object.keys(expected);
    const starts = await stage.call(
      ...names.map((name) => delegate("Go", { subagent_type: name })),
    );
    const ids = starts.map((text) => /task-[0-9a-f]{6}/u.exec(text)?.[0] ?? text);
    await stage.call(runCalls.wait());
    // Some had ended before the model waited.
    const { ends } = stage;
    assert.deepEqual(ends.map((end) => end.id).sort(), [...ids].sort());
    for (const [at, name] of names.entries()) {
      const end = ends.find(({ id }) => id === ids[at]);
      const [status, words] = expected[name] ?? ["", /^$/u];
      assert.equal(end?.status, status, `${name}: ${end?.result}`);
      assert.match(end?.result ?? "", words);
    }
    await stage.editor.prompt(stage.session, "Anything new?");
    assert.equal(stage.ends.length, names.length, "nothing is told twice");
  }));

test("another's agent that is stopped gives what it said so far; one that does not listen is ended", () =>
  withOthers({
    listens: { behaviour: "wait_for_cancel", text: "Half of it", file: "listens" },
    deaf: { behaviour: "ignore_cancel", text: "A quarter", file: "deaf" },
    parent: { behaviour: "grandchild", file: "parent" },
  }, async (stage) => {
    const ids: string[] = [];
    for (const name of ["listens", "deaf", "parent"]) {
      ids.push(await stage.start("Go", { subagent_type: name }));
    }
    for (const name of ["listens", "deaf", "parent"]) await stage.fileIs(name);
    const [listens = "", deaf = "", parent = ""] = ids;
    const [stopped = ""] = await stage.call(runCalls.stop(listens));
    assert.deepEqual(endsIn(stopped), [{
      id: listens,
      round: 1,
      status: "cancelled",
      result: "Half of it\n[listens was cancelled]",
    }]);
    const before = performance.now();
    const [ended = ""] = await stage.call(runCalls.stop(deaf));
    assert.ok(performance.now() - before < 4000, "it is not waited for");
    assert.match(endsIn(ended)[0]?.result ?? "", /^A quarter\n\[deaf was cancelled\]$/u);
    const [last = ""] = await stage.call(runCalls.stop(parent));
    const pid = Number(/pid (\d+)/u.exec(last)?.[1]);
    await stage.editor.mm.stop();
    // What is dead and not yet fetched by its parent has no command line.
    const line = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    assert.equal(line, "", "what it started ends with it, though it ignores TERM");
  }));

test("another's agent that hangs or ends before it is asked has a bounded end, and is gone", () =>
  withOthers({
    hello: { behaviour: "answer", exitAt: "initialize", exitCode: 5 },
    opens: { behaviour: "answer", exitAt: "session/new", exitCode: 6 },
    changes: {
      behaviour: "answer",
      modes: ["yolo", "default"],
      exitAt: "session/set_mode",
      exitCode: 7,
    },
    sleeps: { behaviour: "answer", hangAt: "session/new" },
    dozes: { behaviour: "answer", modes: ["yolo", "default"], hangAt: "session/set_mode" },
    bold: { behaviour: "answer", modes: ["yolo", "autoEdit"] },
  }, async (stage) => {
    const results = await stage.call(
      inline("hello"),
      inline("opens"),
      inline("changes"),
      inline("bold"),
    );
    for (const [at, status] of [5, 6, 7].entries()) {
      assert.match(results[at] ?? "", new RegExp(`exited with status ${status}\\]$`, "u"));
    }
    assert.match(
      results[3] ?? "",
      /^\[bold failed: it is in its mode "yolo", in which it runs calls/u,
    );
    for (const name of ["sleeps", "dozes"]) {
      const id = await stage.start("Go", { subagent_type: name });
      const before = performance.now();
      const [stopped = ""] = await stage.call(runCalls.stop(id));
      assert.ok(performance.now() - before < 4000, "a stop does not wait for what hangs");
      assert.equal(endsIn(stopped)[0]?.result, `[${name} was cancelled]`);
    }
  }));

test("a call of another's agent that you reject is refused alone: its other call, the agents beside it and the turn go on", () =>
  withOthers({
    eve: { behaviour: "two_permissions" },
    ann: { behaviour: "two_permissions", oneCallId: true },
  }, async (stage) => {
    const { editor } = stage;
    // Also where your own calls run: each question is put, and each answer is for one call.
    editor.onPermission = (question) => {
      const no = question.toolCall.rawInput.command === "echo one";
      question.choose(no ? "reject_once" : "allow_always");
    };
    const results = await stage.call(inline("eve"), inline("ann"), inline("eve"));
    // Leave for the session is kept here, by name and agent; nobody else is given more than this one call.
    assert.deepEqual(results, [
      "permissions: one=no, two=yes",
      "permissions: one=no, two=yes",
      "permissions: one=no, two=yes",
    ]);
    assert.equal(editor.toolCalls(stage.session).filter(({ name }) => name === "agent").length, 3);
    assert.match(editor.text(stage.session), /Done\.$/u);
  }, { yolo: false, permissions: { allow: ["agent"], ask: ["eve/*", "ann/*"] } }));

test("what another's agent does is shown in the call that asks it: late arguments, each end once, what stays open", () =>
  withOthers({ eve: { behaviour: "calls", text: "That is all." } }, async (stage) => {
    const { editor, session } = stage;
    const [result] = await stage.call(inline("eve"));
    assert.equal(result, "That is all.");
    const calls = editor.toolCalls(session).filter(({ title }) => title.startsWith("eve/"));
    const seen = calls.map(({ toolCallId, rawInput, status }) => ({
      ends: editor.updatesOf(session, "tool_call_update")
        .filter((one) => one.toolCallId === toolCallId && /completed|failed/u.test(one.status))
        .length,
      rawInput,
      status,
    }));
    assert.deepEqual(seen, [
      { ends: 1, rawInput: { command: "echo said" }, status: "completed" },
      { ends: 1, rawInput: { command: "echo open" }, status: "failed" },
    ]);
  }));

test("another's agent has no keys of providers and nothing that is meant for mm, in the background either", () =>
  withProject(async (p) => {
    const env = {
      OPENAI_API_KEY: "secret-of-yours",
      ANTHROPIC_BASE_URL: "http://127.0.0.1:1",
      AGENT_MODEL: "yours",
      AGENT_YOLO: "true",
    };
    const text = [...Object.keys(env), "MM_CONFIG", "MM_ASK_DEPTH"].join(" ");
    const server = await oneAgent(
      p,
      inOrder(
        { toolCalls: [delegate("Go", { subagent_type: "eve" }), inline("eve")] },
        { toolCalls: [runCalls.wait()] },
        { text: "Done." },
      ),
      { mmConfigs: { eve: { command: fakeAgent({ behaviour: "tell_environment", text }) } } },
    );
    const { stdout, stderr } = await p.runMm(["-p", "Go"], { env });
    assert.equal(stdout, "Done.\n", stderr);
    const told = "OPENAI_API_KEY=undefined\nANTHROPIC_BASE_URL=undefined\nAGENT_MODEL=undefined\n" +
      "AGENT_YOLO=false\nMM_CONFIG=undefined\nMM_ASK_DEPTH=1";
    const results = textsOf(server.requests.at(-1));
    assert.equal(results.filter((one) => one === told || one.includes(`>\n${told}\n<`)).length, 2);
  }));

test("a message that can no longer be read is told as lost, and to whom it was too late", () =>
  withOthers(
    { eve: { behaviour: "wait_for_cancel", text: "Half of it", file: "said" } },
    async (stage) => {
      const id = await stage.start("Go", { subagent_type: "eve" });
      await stage.fileIs("said");
      const [sent = ""] = await stage.call(runCalls.send(id, "And b?"));
      assert.match(sent, /gets the message: .* when what it does now is done/u);
      const [stopped = ""] = await stage.call(runCalls.stop(id));
      assert.equal(
        endsIn(stopped)[0]?.result,
        "Half of it\n[eve was cancelled]\n\n[one message came too late for it]",
      );
      const [refused = ""] = await stage.call(runCalls.send(id, "And now?"));
      assert.match(refused, /^Not sent: task-\w+ takes no messages: its last run ended otherwise/u);
    },
  ));

test("a time limit that is none is refused before anything starts", () =>
  withProject(async (p) => {
    for (const timeout of ["soon", -1, 0, "1000h"]) {
      await oneAgent(p, [], { mmConfigs: { eve: { command: ["touch", "started"], timeout } } });
      const { code, stderr } = await p.runMm(["-p", "Go"]);
      assert.equal(code, 2, stderr);
      assert.match(stderr, /agent\.yaml:\d+:\d+: .*"mmConfigs\.eve\.timeout" must be a duration/u);
    }
    const waits = [0, -1, 1e9, "soon"].map((timeout) => ({
      name: "wait_agent",
      arguments: { timeout },
    }));
    const server = await oneAgent(p, inOrder({ toolCalls: waits }, { text: "Done." }), {
      yolo: true,
    });
    const { stdout, stderr } = await p.runMm(["-p", "Go"]);
    assert.equal(stdout, "Done.\n", stderr);
    for (const text of textsOf(server.requests.at(-1)).slice(3)) {
      assert.match(text, /^Wrong arguments for wait_agent: "timeout"/u);
    }
    assert.ok(!p.exists("started"));
  }));

test("your yolo lets calls of another's agent run where nobody is there, and without it they are refused alone", () =>
  withProject(async (p) => {
    const command = fakeAgent({ behaviour: "two_permissions" });
    const keys = {
      mmConfigs: { eve: { command } },
      permissions: { allow: ["agent", "ask_agent"] },
    };
    for (const [flags, answer] of [[["-yolo"], "yes"], [[], "no"]] as const) {
      const calls = [inline("eve"), delegate("Go", { subagent_type: "eve" })];
      const server = await oneAgent(
        p,
        inOrder({ toolCalls: calls }, { toolCalls: [runCalls.wait()] }, { text: "Done." }),
        keys,
      );
      const { stdout, stderr } = await p.runMm(["-p", "Go", ...flags]);
      assert.equal(stdout, "Done.\n", stderr);
      const said = textsOf(server.requests.at(-1)).join("\n");
      assert.equal(said.match(/permissions: (.*)/gu)?.length, 2, said);
      for (const [, both] of said.matchAll(/permissions: (.*)/gu)) {
        assert.equal(both, `one=${answer}, two=${answer}`);
      }
    }
  }));
