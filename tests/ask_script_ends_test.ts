/** Asking from scripts: every way an ask can end, as a script sees it. */
import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { bash, type Keys } from "./support/agents.ts";
import { type Behaviour, fakeAgent, type FakeAgentOptions } from "./support/fake_agent.ts";
import { processesOf } from "./support/leftovers.ts";
import { always, onUser } from "./support/model_server.ts";
import { programUnderTest } from "./support/program.ts";
import { onlyLeft, type Script, shell, until, withBob } from "./support/script.ts";

function fake(behaviour: Behaviour, more: Partial<FakeAgentOptions> = {}): Keys {
  return { command: fakeAgent({ behaviour, ...more }) };
}
/** Each kind of end, with what a script sees of it. */
const ENDS: readonly {
  readonly end: string;
  readonly script: Script;
  readonly env?: Readonly<Record<string, string>>;
  /** Sent once bob's model was asked. */
  readonly signal?: NodeJS.Signals;
  readonly exit: number;
  readonly answer: string;
  readonly stopReason: string;
  readonly model: string | null;
  readonly words: RegExp;
}[] = [
  {
    end: "answered",
    script: {
      you: { yolo: true },
      bob: [onUser("q", { toolCalls: [bash("true")] }), always({ text: "4" })],
    },
    exit: 0,
    answer: "4",
    stopReason: "end_turn",
    model: "llamacpp/bob",
    words: /bob answered/,
  },
  {
    end: "cut at the output limit",
    script: { bob: [always({ text: "half an", finish: "length" })] },
    exit: 4,
    answer: "half an",
    stopReason: "max_tokens",
    model: "llamacpp/bob",
    words: /bob stopped before the end: output limit/,
  },
  {
    end: "stopped at the turn limit",
    script: {
      you: { yolo: true },
      bobKeys: { maxTurns: 1 },
      bob: [always({ text: "I begin.", toolCalls: [bash("true")] })],
    },
    exit: 4,
    answer: "I begin.",
    stopReason: "max_turn_requests",
    model: "llamacpp/bob",
    words: /bob stopped before the end: turn limit/,
  },
  {
    end: "refused by the model",
    script: { bobEntry: fake("stop_reason", { text: "refusal" }) },
    exit: 4,
    answer: "partial",
    stopReason: "refusal",
    model: "Fake agent",
    words: /bob stopped before the end: the model refused/,
  },
  {
    end: "failed at the model server",
    script: { bob: [always({ status: 400, body: { error: { message: "no such thing" } } })] },
    exit: 1,
    answer: "",
    stopReason: "failed",
    model: "llamacpp/bob",
    words: /bob failed: .*no such thing/,
  },
  {
    end: "died in mid-answer",
    script: { bobEntry: fake("die", { exitCode: 3, stderr: "out of memory", text: "so far" }) },
    exit: 1,
    answer: "so far",
    stopReason: "died",
    model: "Fake agent",
    words: /bob exited with status 3; its last words: out of memory/,
  },
  {
    end: "silent for too long",
    script: {
      bobEntry: { timeout: "800ms" },
      bob: [always({ chunks: ["It begins"], holdAfter: 1, hang: true })],
    },
    exit: 124,
    answer: "It begins",
    stopReason: "timed_out",
    model: "llamacpp/bob",
    words: /bob timed out after 800 ms without a sign of life/,
  },
  {
    end: "cancelled by Ctrl-C",
    script: { bob: [always({ hang: true })] },
    signal: "SIGINT",
    exit: 130,
    answer: "",
    stopReason: "cancelled",
    model: "llamacpp/bob",
    words: /bob was cancelled/,
  },
  {
    end: "refused by the depth limit",
    script: {},
    env: { MM_ASK_DEPTH: "2" },
    exit: 3,
    answer: "",
    stopReason: "refused",
    model: null,
    words: /bob was refused: .*finish the work with your own tools/,
  },
];

for (const { end, script, env = {}, signal, exit, answer, stopReason, model, words } of ENDS) {
  test(`an ask that is ${end} has status ${exit}`, () =>
    withBob(script, async (p, server) => {
      const mm = p.mm(["--ask", "bob", "q"], { env, stdin: "" });
      if (signal !== undefined) {
        await server.waitForRequest(() => true);
        mm.signal(signal);
      }
      const { code } = await mm.exit;
      assert.equal(code, exit, mm.report());
      assert.equal(mm.stdout, answer === "" ? "" : `${answer}\n`);
      assert.match(mm.stderr, words);
    }));

  test(`-json says what came of an ask that is ${end}, on one line`, () =>
    withBob(script, async (p, server) => {
      const mm = p.mm(["-json", "--ask", "bob", "q"], { env, stdin: "" });
      if (signal !== undefined) {
        await server.waitForRequest(() => true);
        mm.signal(signal);
      }
      assert.equal((await mm.exit).code, exit, mm.report());
      assert.match(mm.stdout, /^[^\n]+\n$/);
      const { durationMs, usage, toolCalls, error, ...rest } = JSON.parse(mm.stdout);
      assert.deepEqual(rest, { agent: "bob", model, answer, stopReason, exit });
      assert.ok(Number.isInteger(durationMs) && durationMs >= 0, `${durationMs}`);
      assert.ok(usage === null || usage.inputTokens > 0 && usage.outputTokens > 0, usage);
      assert.ok(Number.isInteger(toolCalls));
      if (exit === 0) {
        assert.equal(error, undefined);
        assert.equal(toolCalls, 1);
        assert.notEqual(usage, null);
      } else {
        assert.match(error, words);
      }
    }));
}

test("Ctrl-C in a terminal reaches mm alone: bob is cancelled, not killed, and mm leaves with 130", () =>
  withBob(
    { you: { yolo: true }, bob: [always({ toolCalls: [bash("touch begun; sleep 300")] })] },
    async (p) => {
      const mm = p.mm(["--ask", "bob", "q"], { stdin: "" });
      await until(() => p.exists("begun"));
      mm.signalGroup("SIGINT");
      assert.equal((await mm.exit).code, 130);
      assert.match(mm.stderr, /bob was cancelled/);
      assert.doesNotMatch(mm.stderr, /SIG/);
    },
  ));

test("Ctrl-C while the question is read ends mm", () =>
  withBob({}, async (p) => {
    const mm = p.mm(["--ask", "bob"]);
    // Nothing tells that it reads: it does when its configuration is loaded, well before this.
    await sleep(800);
    mm.signal("SIGINT");
    assert.equal((await mm.waitForExit({ timeoutMs: 3000 })).code, 130);
  }));

for (const signal of ["SIGTERM", "SIGHUP"] as const) {
  test(`${signal} ends mm and bob, with the signal's status`, () =>
    withBob({ bob: [always({ hang: true })] }, async (p, server) => {
      const mm = p.mm(["--ask", "bob", "q"], { stdin: "" });
      await server.waitForRequest(() => true);
      const before = performance.now();
      mm.signal(signal);
      const { code } = await mm.exit;
      assert.equal(code, signal === "SIGTERM" ? 143 : 129);
      assert.ok(performance.now() - before < 2000);
      assert.equal(mm.stdout, "");
      await onlyLeft(p, [], 500);
    }));
}

test("an ask that is killed takes bob and his command with it", () =>
  withBob(
    { you: { yolo: true }, bob: [always({ toolCalls: [bash("touch begun; sleep 300")] })] },
    async (p) => {
      const mm = p.mm(["--ask", "bob", "q"], { stdin: "" });
      await until(() => p.exists("begun"));
      mm.signal("SIGKILL");
      await mm.exit;
      await onlyLeft(p, [], 2000);
    },
  ));

test("a reader that leaves early ends mm, and nothing is left", () =>
  withBob({ bob: [always({ chunks: ["first\n", "line\n".repeat(100_000)] })] }, async (p) => {
    const run = await shell(p, '"$@" --ask bob q | head -1; echo "${PIPESTATUS[0]}"');
    // 141 tells that the rest was not taken, 0 that the system took it before the reader left.
    assert.match(run.stdout, /^first\n(?:0|141)\n$/);
    assert.doesNotMatch(run.stderr, /error|EPIPE/i);
    await onlyLeft(p, [], 500);
  }));

test("a stderr that is closed costs nothing of the answer", () =>
  withBob({ bob: [always({ text: "ok" })] }, async (p) => {
    const run = await shell(p, '"$@" --ask bob q 2> >(exit 0); echo "$?"');
    assert.equal(run.stdout, "ok\n0\n");
    const closed = await shell(p, '"$@" --ask bob q 2>&-; echo "$?"');
    assert.equal(closed.stdout, "ok\n0\n");
  }));
test("a script that is killed leaves no ask behind, also one that still reads its question", () =>
  withBob({ bob: [always({ hang: true })] }, async (p, server) => {
    const asks = p.mm(programUnderTest(), {
      program: ["/bin/bash", "-c", '"$@" --ask bob q; :', "bash"],
    });
    const reads = p.mm(programUnderTest(), {
      program: ["/bin/bash", "-c", 'echo here; sleep 300 | "$@" --ask bob; :', "bash"],
    });
    await reads.waitForOutput("here");
    await server.waitForRequest(() => true);
    // It is a start of mm later than the other's request, so it reads by now.
    await sleep(500);
    const spared = (await processesOf(p.mark)).filter((one) => one.command === "sleep 300");
    assert.equal(spared.length, 1);
    asks.signal("SIGKILL");
    reads.signal("SIGKILL");
    await onlyLeft(p, spared.map((one) => one.pid), 2000);
    for (const { pid } of spared) process.kill(pid, "SIGKILL");
  }));
