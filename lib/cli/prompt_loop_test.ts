import { strict as assert } from "node:assert";
import process from "node:process";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { setImmediate } from "node:timers";
import type { ReadStream, WriteStream } from "node:tty";
import type { PermissionQuestion } from "../gate/question.ts";
import { createPipeInput, type LineInput } from "./line_input.ts";
import { createPaint } from "./paint.ts";
import { createPermissionAsker } from "./permission_asker.ts";
import { PromptLine } from "./prompt_line.ts";
import { CurrentTask, runPromptLoop } from "./prompt_loop.ts";
import { createQuestionCommands } from "./question_commands.ts";
import { createRenderer } from "./render.ts";
import { createScreen } from "./screen.ts";
import { createTerminalInput } from "./terminal_input.ts";
import { WorkingSession } from "./testing.ts";

// Whatever the terminal of the tests is: on a dumb one readline moves no cursor.
process.env["TERM"] = "xterm";

const question: PermissionQuestion = {
  call: {
    id: "1",
    name: "explore/bash",
    title: "make",
    kind: "execute",
    input: { command: "make" },
  },
  agent: "explore",
  cwd: "/work",
  taskId: "task-1f09ab",
};

/** Line mode on an input, with a session that a test plays. */
function stage(kind: "pipe" | "terminal") {
  const keys = new PassThrough();
  const session = new WorkingSession();
  const leaving = new AbortController();
  const task = new CurrentTask(leaving.signal);
  let shown = "";
  const write = (text: string) => void (shown += text);
  const input = kind === "pipe"
    ? createPipeInput({ input: keys, show: write, echo: (line) => write(`${line}\n`) })
    : terminalInput(keys, write);
  const paint = createPaint(false);
  const renderer = createRenderer({
    screen: createScreen({ side: write }),
    paint,
    verbose: false,
    cwd: "/work",
  });
  const line = new PromptLine({ input, prompt: "> " });
  const leave = () => leaving.abort();
  const commands = createQuestionCommands({ session: () => session, line, renderer, paint, leave });
  const askPermission = createPermissionAsker({
    input,
    renderer,
    paint,
    commands,
    leaving: leaving.signal,
  });
  const done = runPromptLoop({
    session,
    line,
    renderer,
    task,
    leaving: leaving.signal,
    typed: kind === "terminal",
    endLine: () => write("\n"),
  }).finally(() => input.close());
  return {
    session,
    leaving,
    task,
    line,
    renderer,
    done,
    type: (text: string) => void keys.write(text),
    end: () => void keys.end(),
    shown: () => shown,
    ask: (signal = new AbortController().signal) =>
      line.ask(() => askPermission(question, { signal }), { alone: true }),
    /** Everything that can happen by itself has happened. */
    settled: async () => {
      for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

function terminalInput(keys: PassThrough, write: (text: string) => void): LineInput {
  const stdin = Object.assign(keys, { isTTY: true, setRawMode: () => {} });
  const screen = {
    isTTY: true,
    columns: 80,
    write: (text: string) => (write(text), true),
    on() {},
  };
  return createTerminalInput({
    stdin: stdin as unknown as ReadStream,
    stdout: Object.assign(new PassThrough(), screen) as unknown as WriteStream,
    complete: () => [],
    onInterrupt: () => {},
  });
}

test("runPromptLoop() tells the model at the prompt what ended, and goes on with the line that was begun", async () => {
  const { session, done, type, settled, shown } = stage("terminal");
  type("run the te");
  await settled();
  session.set(0, true);
  await settled();
  assert.deepEqual(session.turns, ["[told]"]);
  type("sts\r");
  await settled();
  assert.deepEqual(session.turns, ["[told]", "run the tests"]);
  // The prompt came back with what was typed.
  assert.ok(shown().split("\r\x1b[J").at(-1)?.includes("> run the te"), JSON.stringify(shown()));
  type("\x04");
  await done;
  assert.equal(session.watchers, 0);
});

test("runPromptLoop() tells the model between the lines of a pipe, and loses none", async () => {
  const { session, done, type, settled, shown, end } = stage("pipe");
  type("one\n");
  await settled();
  session.set(0, true);
  await settled();
  type("two\n");
  await settled();
  end();
  await done;
  assert.deepEqual(session.turns, ["one", "[told]", "two"]);
  assert.equal(shown(), "> one\n> \n> two\n> \n");
});

test("runPromptLoop() tells the model after a turn what ended meanwhile, before the next prompt", async () => {
  const { session, done, type, settled, end } = stage("pipe");
  const turn = Promise.withResolvers<void>();
  session.onTurn = (text) => text === "one" ? turn.promise : Promise.resolve();
  type("one\ntwo\n");
  await settled();
  session.set(1, true);
  turn.resolve();
  await settled();
  assert.deepEqual(session.turns, ["one", "[told]", "two"]);
  session.set(0, false);
  end();
  await done;
});

test("runPromptLoop() asks at the prompt what a run in the background may do, on a fresh line", async () => {
  const { session, done, type, settled, shown, ask } = stage("terminal");
  type("half a pro");
  await settled();
  const answer = ask();
  await settled();
  assert.match(shown(), /🔐 explore\/bash: make \(in \/work, in the background: task-1f09ab\)/u);
  type("s\r");
  assert.deepEqual(await answer, { kind: "allow_session" });
  type("mpt\r");
  await settled();
  assert.deepEqual(session.turns, ["half a prompt"]);
  type("\x04");
  await done;
});

test("runPromptLoop() lets the prompt come back when a question is withdrawn", async () => {
  const { session, done, type, settled, ask, end } = stage("pipe");
  await settled();
  const stopped = new AbortController();
  const answer = ask(stopped.signal);
  await settled();
  stopped.abort();
  assert.deepEqual(await answer, { kind: "cancelled" });
  type("y\n");
  await settled();
  // What was typed afterwards is a prompt, and allows nothing.
  assert.deepEqual(session.turns, ["y"]);
  end();
  await done;
});

test("runPromptLoop() tells the model after a question that is open, not in the middle of it", async () => {
  const { session, done, type, settled, ask, line, renderer, shown, end } = stage("pipe");
  await settled();
  const answer = ask();
  await settled();
  session.set(0, true);
  line.show(() => renderer.lines("something else"));
  await settled();
  assert.deepEqual(session.turns, []);
  assert.doesNotMatch(shown(), /something else/u);
  type("n\n");
  assert.deepEqual(await answer, { kind: "reject_once" });
  await settled();
  assert.deepEqual(session.turns, ["[told]"]);
  assert.match(shown(), /session > n\nsomething else\n> $/u);
  end();
  await done;
});

test("runPromptLoop() puts questions that come together one after the other, before the prompt comes back", async () => {
  const { done, type, settled, ask, shown, end } = stage("pipe");
  await settled();
  const answers = Promise.all([ask(), ask()]);
  type("y\nn\n");
  assert.deepEqual(await answers, [{ kind: "allow_once" }, { kind: "reject_once" }]);
  await settled();
  assert.match(shown(), /^> \n🔐[^>]*> y\n🔐[^>]*> n\n> $/u);
  end();
  await done;
});

test("runPromptLoop() waits at the end of a pipe for what runs, and tells the model of it", async () => {
  const { session, done, settled, type, end, shown } = stage("pipe");
  session.set(2, false);
  type("one\n");
  await settled();
  end();
  await settled();
  session.set(1, true);
  await settled();
  assert.deepEqual(session.turns, ["one", "[told]"]);
  session.set(0, true);
  await done;
  assert.deepEqual(session.turns, ["one", "[told]", "[told]"]);
  assert.match(shown(), /\nWaiting for 2 subagents\n$/u);
});

test("runPromptLoop() leaves at the end of a pipe when the waiting is cancelled, or the turn that tells", async () => {
  const waiting = stage("pipe");
  waiting.session.set(1, false);
  waiting.end();
  await waiting.settled();
  assert.ok(waiting.task.cancel());
  await waiting.done;

  const telling = stage("pipe");
  telling.session.onTurn = (_, signal) =>
    new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  telling.session.set(1, false);
  telling.end();
  await telling.settled();
  telling.session.set(0, true);
  await telling.settled();
  assert.deepEqual(telling.session.turns, ["[told]"]);
  assert.ok(telling.task.cancel());
  await telling.done;
  assert.match(telling.shown(), /The turn was cancelled/u);
});

test("runPromptLoop() says how much it stops, however mm is left", async () => {
  const typed = stage("terminal");
  typed.session.set(2, false);
  await typed.settled();
  typed.type("\x04");
  await typed.done;
  assert.match(typed.shown(), /Stopped: 2 subagents at work\n/u);

  const quit = stage("pipe");
  quit.session.set(1, false);
  quit.session.onTurn = () => Promise.resolve({ action: "quit" });
  quit.type("/quit\nnot read\n");
  await quit.done;
  assert.deepEqual(quit.session.turns, ["/quit"]);
  assert.match(quit.shown(), /Stopped: 1 subagent at work\n$/u);

  const left = stage("terminal");
  left.session.set(1, false);
  await left.settled();
  left.leaving.abort();
  await left.done;
  assert.match(left.shown(), /Stopped: 1 subagent at work\n/u);

  const nothing = stage("terminal");
  await nothing.settled();
  nothing.leaving.abort();
  await nothing.done;
  assert.doesNotMatch(nothing.shown(), /Stopped/u);
});

test("runPromptLoop() carries out commands at the question of a run in the background, which comes back", async () => {
  const { session, done, type, settled, ask, shown, end } = stage("pipe");
  session.onTasks = (rest) => Promise.resolve({ ok: rest === "", text: `tasks:${rest}` });
  await settled();
  const answer = ask();
  type("/tasks\n/tasks kill\n/new\ny\n");
  assert.deepEqual(await answer, { kind: "allow_once" });
  assert.match(
    shown(),
    /🔐.*\n[^\n]*> \/tasks\ntasks:\n🔐.*\n[^\n]*> \/tasks kill\n✗ tasks:kill\n🔐.*\n[^\n]*> \/new\nAnswer y, s, n or never; \/tasks, [^\n]*\n[^\n]*> y\n/u,
  );
  assert.deepEqual(session.turns, []);
  end();
  await done;
});

test("runPromptLoop() withdraws the question of a run that is stopped at it", async () => {
  const { session, done, type, settled, ask, shown, end } = stage("pipe");
  const stopped = new AbortController();
  session.onTasks = async () => {
    stopped.abort();
    await settled();
    return { ok: true, text: "task-1f09ab is stopped." };
  };
  await settled();
  const answer = ask(stopped.signal);
  type("/tasks stop 1f09ab\n");
  assert.deepEqual(await answer, { kind: "cancelled" });
  await settled();
  await settled();
  assert.match(
    shown(),
    /> \/tasks stop 1f09ab\n {2}\(no answer [^\n]*\n> \ntask-1f09ab is stopped\.\n> $/u,
  );
  end();
  await done;
});

test("runPromptLoop() is left with /quit at a question, and puts no other one", async () => {
  const { done, type, settled, ask, shown } = stage("terminal");
  await settled();
  const answers = Promise.all([ask(), ask()]);
  await settled();
  type("/quit\r");
  assert.deepEqual(await answers, [{ kind: "cancelled" }, { kind: "cancelled" }]);
  await done;
  assert.equal(shown().match(/🔐/gu)?.length, 1);
  assert.doesNotMatch(shown(), /no answer is needed/u);
});

test("runPromptLoop() ends when mm is left, also while a question is open", async () => {
  const { done, settled, leaving, ask } = stage("pipe");
  await settled();
  void ask();
  await settled();
  leaving.abort();
  await done;
});

test("runPromptLoop() does not tell again and again what a turn fails to tell", async () => {
  const { session, done, type, settled, end } = stage("pipe");
  await settled();
  session.onTurn = (text) => {
    if (text !== "[told]") return Promise.resolve();
    session.set(0, true);
    return Promise.resolve({ end: { kind: "failed", reason: "no model" } });
  };
  session.set(0, true);
  await settled();
  assert.deepEqual(session.turns, ["[told]"]);
  type("go\n");
  await settled();
  assert.deepEqual(session.turns, ["[told]", "go"]);
  end();
  await done;
});
