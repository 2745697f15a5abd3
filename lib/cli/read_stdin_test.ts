import { strict as assert } from "node:assert";
import { Buffer } from "node:buffer";
import { Readable } from "node:stream";
import { test } from "node:test";
import { UsageError } from "../base/errors.ts";
import { MAX_STDIN_BYTES, readStdin } from "./read_stdin.ts";

function input(...pieces: (string | Uint8Array)[]): Readable {
  return Readable.from(pieces.map((piece) => Buffer.from(piece)));
}

test("readStdin() joins pieces, also where a character is cut", async () => {
  const bytes = Buffer.from("é日本\n");
  assert.equal(
    await readStdin("question", input(bytes.subarray(0, 1), bytes.subarray(1))),
    "é日本\n",
  );
});

const WRONG: readonly [string, Readable, RegExp][] = [
  ["empty", input(), /^The question on stdin is empty$/u],
  ["blank", input(" \n\t"), /is empty/u],
  ["not UTF-8", input(Uint8Array.of(0x61, 0xff)), /is not UTF-8 text/u],
  ["too large", input("a".repeat(MAX_STDIN_BYTES), "b"), /is longer than 4194304 bytes/u],
];

for (const [what, stream, message] of WRONG) {
  test(`readStdin() refuses an input that is ${what}`, async () => {
    await assert.rejects(readStdin("question", stream), (error) => {
      assert(error instanceof UsageError);
      assert.match(error.message, message);
      return true;
    });
  });
}
