import { strict as assert } from "node:assert";
import process from "node:process";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { setImmediate } from "node:timers";
import type { ReadStream, WriteStream } from "node:tty";
import { createTerminalInput } from "./terminal_input.ts";

// Whatever the terminal of the tests is: on a dumb one readline moves no cursor.
process.env["TERM"] = "xterm";

function terminal() {
  const raw: boolean[] = [];
  const keys = new PassThrough();
  const stdin = Object.assign(keys, {
    isTTY: true,
    setRawMode: (on: boolean) => void raw.push(on),
  }) as unknown as ReadStream;
  let shown = "";
  const screen = new PassThrough();
  screen.setEncoding("utf8").on("data", (text: string) => void (shown += text));
  const stdout = Object.assign(screen, { isTTY: true, columns: 80 }) as unknown as WriteStream;
  let interrupts = 0;
  const input = createTerminalInput({
    stdin,
    stdout,
    complete: (line) => line.startsWith("/he") ? ["/help"] : [],
    onInterrupt: () => void interrupts++,
  });
  return {
    input,
    raw,
    type: (text: string) => void keys.write(text),
    settled: async () => {
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    },
    shown: () => shown,
    interrupts: () => interrupts,
    end: () => void keys.end(),
  };
}

const signal = new AbortController().signal;
const prompt = { prompt: "> ", fresh: false, signal };
const question = { prompt: "? ", fresh: true, signal };

test("createTerminalInput() gives typed lines and keeps the lines typed ahead", async () => {
  const { input, type } = terminal();
  const first = input.next(prompt);
  type("one\rtwo\rthree\r");
  assert.equal(await first, "one");
  assert.equal(await input.next(prompt), "two");
  assert.equal(await input.next(prompt), "three");
  input.close();
});

test("createTerminalInput() takes no line typed before a question as its answer", async () => {
  const { input, type, settled } = terminal();
  const first = input.next(prompt);
  type("run it\ry\r");
  assert.equal(await first, "run it");
  await settled();
  const answer = input.next(question);
  type("n\r");
  assert.equal(await answer, "n");
  assert.equal(await input.next(prompt), "y");
  input.close();
});

test("createTerminalInput() folds pasted lines into one prompt, also when it is recalled", async () => {
  const { input, type } = terminal();
  const first = input.next(prompt);
  type("\x1b[200~one\n\ttwo\n\x1b[201~\r");
  assert.equal(await first, "one\n\ttwo");
  const again = input.next(prompt);
  type("\x1b[A\r");
  assert.equal(await again, "one\n\ttwo");
  input.close();
});

test("createTerminalInput() completes with Tab and keeps answers out of the history", async () => {
  const { input, type, settled } = terminal();
  const line = input.next(prompt);
  // Key by key, as a person types: a tab inside of pasted text completes nothing.
  for (const keys of ["/he", "\t", "\r"]) {
    type(keys);
    await settled();
  }
  assert.equal(await line, "/help");
  const answer = input.next(question);
  type("y\r");
  assert.equal(await answer, "y");
  const recalled = input.next(prompt);
  type("\x1b[A\r");
  assert.equal(await recalled, "/help");
  input.close();
});

test("createTerminalInput() tells about Ctrl-C and gives up what was typed", async () => {
  const { input, type, settled, interrupts } = terminal();
  const line = input.next(prompt);
  type("rm -rf");
  type("\x03");
  await settled();
  assert.equal(interrupts(), 1);
  type("ls\r");
  assert.equal(await line, "ls");
  input.close();
});

test("createTerminalInput() ends at Ctrl-D and when the terminal is gone", async () => {
  const one = terminal();
  const line = one.input.next(prompt);
  one.type("\x04");
  assert.equal(await line, null);
  assert.equal(await one.input.next(question), null);
  one.input.close();
  const two = terminal();
  const other = two.input.next(prompt);
  two.end();
  assert.equal(await other, null);
  two.input.close();
});

test("createTerminalInput() withdraws a question and keeps reading", async () => {
  const { input, type } = terminal();
  const turn = new AbortController();
  const answer = input.next({ ...question, signal: turn.signal });
  turn.abort(new Error("cancelled"));
  await assert.rejects(answer, /cancelled/u);
  const line = input.next(prompt);
  type("next\r");
  assert.equal(await line, "next");
  input.close();
});

test("createTerminalInput() leaves the terminal as it found it", async () => {
  const { input, raw, shown, settled } = terminal();
  input.close();
  input.close();
  await settled();
  assert.equal(raw.at(-1), false);
  assert.equal(shown().split("\x1b[?2004l").length, 2);
});

test("createTerminalInput() keeps a line that is being typed while something else comes in between", async () => {
  const { input, type, settled, shown } = terminal();
  const away = new AbortController();
  const line = input.next({ ...prompt, signal: away.signal });
  type("half a pro");
  await settled();
  away.abort(new Error("in between"));
  await assert.rejects(line, /in between/u);
  await settled();
  // The prompt is taken off the screen, whole.
  assert.ok(shown().endsWith("half a pro\r\x1b[J"), JSON.stringify(shown()));
  const again = input.next(prompt);
  await settled();
  assert.ok(shown().split("\r\x1b[J")[1]?.includes("> half a pro"), JSON.stringify(shown()));
  type("mpt\r");
  assert.equal(await again, "half a prompt");
  input.close();
});

test("createTerminalInput() takes every row of a long line off the screen, and none above", async () => {
  const { input, type, settled, shown } = terminal();
  const away = new AbortController();
  const line = input.next({ ...prompt, signal: away.signal });
  type("x".repeat(200));
  await settled();
  away.abort(new Error("in between"));
  await assert.rejects(line, /in between/u);
  await settled();
  assert.ok(shown().endsWith("x\x1b[2A\r\x1b[J"), JSON.stringify(shown()));
  const before = shown().length;
  const again = input.next(prompt);
  await settled();
  assert.ok(shown().length > before && !shown().startsWith("\x1b[2A", before));
  type("\r");
  assert.equal(await again, "x".repeat(200));
  input.close();
});

test("createTerminalInput() asks for an answer on a fresh line, and goes on with what was begun", async () => {
  const { input, type, settled } = terminal();
  const away = new AbortController();
  const line = input.next({ ...prompt, signal: away.signal });
  type("run the tests");
  await settled();
  away.abort(new Error("in between"));
  await assert.rejects(line, /in between/u);
  const answer = input.next(question);
  type("y\r");
  assert.equal(await answer, "y");
  const withdrawn = new AbortController();
  const second = input.next({ ...question, signal: withdrawn.signal });
  type("nev");
  await settled();
  withdrawn.abort(new Error("withdrawn"));
  await assert.rejects(second, /withdrawn/u);
  const again = input.next(prompt);
  type(" again\r");
  assert.equal(await again, "run the tests again");
  input.close();
});

test("createTerminalInput() shows something above the line that is being typed", async () => {
  const { input, type, settled, shown } = terminal();
  const say = (text: string) => input.above(() => void (said += text));
  let said = "";
  say("before");
  const line = input.next(prompt);
  type("half");
  await settled();
  const before = shown().length;
  say(" between");
  await settled();
  assert.equal(said, "before between");
  assert.ok(shown().startsWith("\r\x1b[J", before) && shown().slice(before).includes("> half"));
  type("\r");
  assert.equal(await line, "half");
  input.close();
});
