import { test } from "node:test";
import assert from "node:assert/strict";
import process from "node:process";
import { createByteReader, readsIntoBuffer } from "./byte_reader.ts";
import { startRawServer, STREAM_HEAD, writeBytes } from "./testing.ts";

const encoder = new TextEncoder();

/** A stream of bytes, as bodies are. */
function byteStream(pieces: readonly string[]): ReadableStream<Uint8Array> {
  const left = [...pieces];
  return new ReadableStream({
    type: "bytes",
    pull(controller) {
      const piece = left.shift();
      if (piece !== undefined) return controller.enqueue(encoder.encode(piece));
      controller.close();
      controller.byobRequest?.respond(0);
    },
  });
}

/** A stream of chunks, as a body that passed through something else may be. */
function chunkStream(pieces: readonly string[]): ReadableStream<Uint8Array> {
  return ReadableStream.from(pieces.map((piece) => encoder.encode(piece)));
}

for (const [what, make] of [["bytes", byteStream], ["chunks", chunkStream]] as const) {
  test(`a stream of ${what} is read to its end`, async () => {
    const pieces = ["one", "x".repeat(200_000), "last"];
    const reader = createByteReader(make(pieces));
    let text = "";
    for (;;) {
      const next = await reader.read();
      if (next.done) break;
      text += new TextDecoder().decode(next.value);
    }
    assert.equal(text, pieces.join(""));
  });
}

test("the body of an answer is read into one buffer, on every runtime but Bun", async () => {
  assert.equal(readsIntoBuffer(), !("bun" in process.versions));
  await using server = await startRawServer(async (socket) => {
    socket.write(STREAM_HEAD);
    await writeBytes(socket, "abc");
    socket.end();
  });
  const { body } = await fetch(`${server.url}/chat/completions`, { method: "POST", body: "{}" });
  assert(body !== null);
  // A body of another kind would be read all the same, but slowly.
  if (readsIntoBuffer()) await body.getReader({ mode: "byob" }).cancel();
});

test("a read after one that was given up works, and cancel() ends both", async () => {
  let enqueue = (_: string) => {};
  const body = new ReadableStream<Uint8Array>({
    type: "bytes",
    start(controller) {
      enqueue = (chunk) => controller.enqueue(encoder.encode(chunk));
    },
  });
  const reader = createByteReader(body);
  const first = reader.read();
  const second = reader.read();
  enqueue("a");
  const read = await first;
  assert.equal(read.done ? "" : new TextDecoder().decode(read.value), "a");
  await reader.cancel();
  assert.equal((await second).done, true);
});
