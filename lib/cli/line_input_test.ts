import { strict as assert } from "node:assert";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { setImmediate } from "node:timers";
import { createAnswerInput, createPipeInput } from "./line_input.ts";

const forever = new AbortController().signal;

function pipe(text: string) {
  const shown: string[] = [];
  const input = new PassThrough();
  input.end(text);
  const lines = createPipeInput({
    input,
    show: (prompt) => void shown.push(prompt),
    echo: (line) => void shown.push(`${line}\n`),
  });
  return { lines, shown };
}

test("createPipeInput() gives lines in order to whoever asks, and null at the end", async () => {
  const { lines, shown } = pipe("one\r\ntwo\u2028still two\nthree");
  const next = (prompt: string, fresh: boolean) => lines.next({ prompt, fresh, signal: forever });
  assert.equal(await next("> ", false), "one");
  assert.equal(await next("? ", true), "two\u2028still two");
  assert.equal(await next("> ", false), "three");
  assert.equal(await next("> ", false), null);
  assert.equal(await next("> ", false), null);
  assert.equal(shown.join(""), "> one\n? two\u2028still two\n> three\n> > ");
});

test("createPipeInput() keeps the line of a withdrawn call for the next one", async () => {
  const input = new PassThrough();
  const lines = createPipeInput({ input, show: () => {}, echo: () => {} });
  const withdrawn = new AbortController();
  const first = lines.next({ prompt: "", fresh: true, signal: withdrawn.signal });
  withdrawn.abort(new Error("withdrawn"));
  await assert.rejects(first, /withdrawn/u);
  input.write("a prompt\n");
  assert.equal(await lines.next({ prompt: "", fresh: false, signal: forever }), "a prompt");
  input.end();
});

test("createAnswerInput() drops what was typed before it was asked for", async () => {
  const input = new PassThrough();
  const asked: string[] = [];
  const answers = createAnswerInput({ input, show: (prompt) => void asked.push(prompt) });
  input.write("y\ny\n");
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  const answer = answers.next({ prompt: "? ", fresh: true, signal: forever });
  input.write("n\nnot this\n");
  assert.equal(await answer, "n");
  const last = answers.next({ prompt: "? ", fresh: true, signal: forever });
  input.end();
  assert.equal(await last, null);
  assert.equal(await answers.next({ prompt: "? ", fresh: true, signal: forever }), null);
  assert.deepEqual(asked, ["? ", "? "]);
});

test("createPipeInput() leaves no open line behind a withdrawn call, and shows things above the prompt", async () => {
  let shown = "";
  const show = (text: string) => void (shown += text);
  const input = new PassThrough();
  const lines = createPipeInput({ input, show, echo: (line) => show(`${line}\n`) });
  lines.above(() => show("first\n"));
  const withdrawn = new AbortController();
  const line = lines.next({ prompt: "> ", fresh: false, signal: withdrawn.signal });
  lines.above(() => show("second\n"));
  withdrawn.abort(new Error("withdrawn"));
  await assert.rejects(line, /withdrawn/u);
  lines.above(() => show("third\n"));
  assert.equal(shown, "first\n> \nsecond\n> \nthird\n");
  const next = lines.next({ prompt: "> ", fresh: false, signal: forever });
  input.end("a prompt\n");
  assert.equal(await next, "a prompt");
});
