import assert from "node:assert/strict";
import { test } from "node:test";
import { readLines } from "./stdin_lines.ts";

async function linesOf(pieces: readonly (string | Uint8Array)[], maxBytes?: number) {
  async function* input() {
    yield* pieces;
  }
  const lines: string[] = [];
  for await (const line of readLines(input(), maxBytes === undefined ? {} : { maxBytes })) {
    lines.push(line);
  }
  return lines;
}

test("readLines() splits at line feeds only", async () => {
  assert.deepEqual(await linesOf(["a\u2028b\u2029c\rd\u0085e\nf\n"]), [
    "a\u2028b\u2029c\rd\u0085e",
    "f",
  ]);
});

test("readLines() takes both ends of a line, and none at the end", async () => {
  assert.deepEqual(await linesOf(["a\r\nb\n\r\n\nc"]), ["a", "b", "", "", "c"]);
  assert.deepEqual(await linesOf([]), []);
  assert.deepEqual(await linesOf(["\n"]), [""]);
});

test("readLines() joins lines and characters that come in pieces", async () => {
  const bytes = new TextEncoder().encode("salut é日本\u{1f600}\r\nzwei\n");
  const single = [...bytes].map((byte) => Uint8Array.of(byte));
  assert.deepEqual(await linesOf(single), ["salut é日本\u{1f600}", "zwei"]);
});

test("readLines() refuses a line above the limit, not an input above it", async () => {
  assert.deepEqual(await linesOf(["1234\n1234\n12", "34"], 4), ["1234", "1234", "1234"]);
  await assert.rejects(linesOf(["123", "45"], 4), {
    message: "Cannot read the input: a line is longer than 4 bytes",
  });
});

test("readLines() is fast with a long line in many pieces", async () => {
  const piece = new Uint8Array(1000).fill(0x61);
  const start = performance.now();
  const [line] = await linesOf(new Array(4000).fill(piece));
  assert.equal(line?.length, 4_000_000);
  assert.ok(performance.now() - start < 2000);
});
