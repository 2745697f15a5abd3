import assert from "node:assert/strict";
import { test } from "node:test";
import { LineWriter } from "./line_writer.ts";

function writer(write: (text: string) => void | Promise<void>) {
  const errors: unknown[] = [];
  const output = new WritableStream<Uint8Array>({
    write: (bytes) => write(new TextDecoder().decode(bytes)),
  });
  return { errors, lines: new LineWriter({ output, onBroken: (error) => errors.push(error) }) };
}

const note = (text: string) => ({ jsonrpc: "2.0", method: "n", params: { text } }) as const;

test("messages keep their order and go out in few writes", async () => {
  const writes: string[] = [];
  const { lines } = writer((text) => void writes.push(text));
  for (let i = 0; i < 1000; i++) lines.append(note(String(i)));
  await lines.flushed();
  const texts = writes.join("").trim().split("\n").map((line) => JSON.parse(line).params.text);
  assert.deepEqual(texts, Array.from({ length: 1000 }, (_, i) => String(i)));
  assert.equal(writes.length, 1);
});

test("half a character is replaced, so that strict parsers take the line", async () => {
  let written = "";
  const { lines } = writer((text) => void (written += text));
  lines.append(note("a\ud83d"));
  await lines.flushed();
  assert.equal(JSON.parse(written).params.text, "a\ufffd");
});

test("a message that would end the connection is not sent", async () => {
  let written = "";
  const { lines } = writer((text) => void (written += text));
  assert.throws(() => lines.append(note("x".repeat(33 * 1024 * 1024))), RangeError);
  lines.append(note("after"));
  await lines.flushed();
  assert.equal(JSON.parse(written).params.text, "after");
});

test("a broken stream is reported once and takes nothing more", async () => {
  const { lines, errors } = writer(() => Promise.reject(new Error("EPIPE")));
  lines.append(note("a"));
  await lines.flushed();
  assert.equal(errors.length, 1);
  assert.throws(() => lines.append(note("b")), /it is gone/u);
});

test("a reader that never reads does not fill the memory", () => {
  const { lines, errors } = writer(() => new Promise(() => {}));
  const text = "x".repeat(16 * 1024 * 1024);
  assert.throws(() => {
    for (let i = 0; i < 20; i++) lines.append(note(text));
  }, /it is gone/u);
  assert.match(String(errors[0]), /does not read/u);
});
