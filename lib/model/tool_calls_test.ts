import { test } from "node:test";
import assert from "node:assert/strict";
import { nineLetterId } from "./call_id.ts";
import type { CallPiece } from "./chunk.ts";
import { createCallCollector, UNNAMED } from "./tool_calls.ts";

const NAMES = new Set(["read", "bash", "list"]);

function collect(...pieces: CallPiece[]) {
  const collector = createCallCollector(NAMES);
  for (const piece of pieces) collector.add(piece);
  return collector.finish().map(({ call }) => call);
}

/** Name and arguments only, where the ids are made up. */
function plain(...pieces: CallPiece[]) {
  return collect(...pieces).map(({ name, arguments: text }) => [name, text]);
}

test("E10: the id of the first piece counts for the pieces that follow without one", () => {
  assert.deepEqual(
    collect(
      { index: 0, id: "call_9", name: "read", arguments: '{"pa' },
      { index: 0, arguments: 'th":1}' },
    ),
    [{ id: "call_9", name: "read", arguments: '{"path":1}' }],
  );
});

test("E10: a call without an id gets one of nine letters and digits, each its own", () => {
  const calls = collect(
    { index: 0, name: "read", arguments: "{}" },
    { index: 1, name: "read", arguments: "{}" },
  );
  assert.equal(calls.length, 2);
  for (const { id } of calls) assert.match(id, /^[A-Za-z0-9]{9}$/u);
  assert.notEqual(calls[0]?.id, calls[1]?.id);
});

test("E10: the same id for two calls is made unique", () => {
  const calls = collect(
    { index: 0, id: "call_0", name: "read", arguments: '{"path":"a"}' },
    { index: 1, id: "call_0", name: "bash", arguments: '{"command":"b"}' },
  );
  assert.deepEqual(calls.map(({ name }) => name), ["read", "bash"]);
  assert.equal(new Set(calls.map(({ id }) => id)).size, 2);
});

test("E11: two calls with the index 0 and different ids are two calls", () => {
  assert.deepEqual(
    plain(
      { index: 0, id: "a", name: "read", arguments: '{"path":"1"}' },
      { index: 0, id: "b", name: "read", arguments: '{"path":"2"}' },
    ),
    [["read", '{"path":"1"}'], ["read", '{"path":"2"}']],
  );
});

test("E11: two calls with the index 0 and no ids are two calls", () => {
  assert.deepEqual(
    plain(
      { index: 0, name: "read", arguments: '{"path":"1"}' },
      { index: 0, name: "read", arguments: '{"path":"2"}' },
      { index: 0, name: "list" },
      { index: 0, name: "bash", arguments: "{}" },
    ),
    [["read", '{"path":"1"}'], ["read", '{"path":"2"}'], ["list", ""], ["bash", "{}"]],
  );
});

test("E11: a known id wins over a changed index", () => {
  assert.deepEqual(
    plain(
      { index: 0, id: "a", name: "read", arguments: '{"pa' },
      { index: 1, id: "a", arguments: 'th":1}' },
    ),
    [["read", '{"path":1}']],
  );
});

test("E11: without id and index a piece belongs to the current call", () => {
  assert.deepEqual(
    plain(
      { id: "a", name: "read", arguments: "{" },
      { arguments: "}" },
      { id: "b", name: "bash", arguments: '{"command"' },
      { arguments: ':"ls"}' },
    ),
    [["read", "{}"], ["bash", '{"command":"ls"}']],
  );
});

test("E11: pieces of two calls that come in turn are told apart by their index", () => {
  assert.deepEqual(
    plain(
      { index: 0, id: "a", name: "read", arguments: '{"p' },
      { index: 1, id: "b", name: "bash", arguments: '{"c' },
      { index: 0, arguments: '":1}' },
      { index: 1, arguments: '":2}' },
    ),
    [["read", '{"p":1}'], ["bash", '{"c":2}']],
  );
});

test("a new id with every piece does not cut a call into many", () => {
  assert.deepEqual(
    plain(
      { index: 0, id: "a1", name: "read", arguments: '{"p' },
      { index: 0, id: "a2", arguments: '":' },
      { index: 0, id: "a3", arguments: "1}" },
    ),
    [["read", '{"p":1}']],
  );
});

test("a name that is repeated or cut into pieces is one name", () => {
  assert.deepEqual(
    plain({ index: 0, name: "re" }, { index: 0, name: "ad" }, { index: 0, arguments: "{}" }),
    [["read", "{}"]],
  );
  assert.deepEqual(
    plain(
      { index: 0, id: "a", name: "read", arguments: '{"p' },
      { index: 0, id: "a", name: "read", arguments: '":1}' },
      { index: 0, id: "a", name: "read" },
    ),
    [["read", '{"p":1}']],
  );
});

test("E13: arguments as object, null, empty or missing are understood", () => {
  const args = (value: CallPiece["arguments"]) =>
    plain({ index: 0, name: "read", ...(value === undefined ? {} : { arguments: value }) })[0]?.[1];
  assert.equal(args({ path: "a" }), '{"path":"a"}');
  assert.equal(args(""), "");
  assert.equal(args("null"), "");
  assert.equal(args(undefined), "");
  assert.equal(args('{}{"path":"a"}'), '{"path":"a"}');
  assert.equal(args('"{\\"path\\":\\"a\\"}"'), '{"path":"a"}');
  assert.equal(args('{"path": '), '{"path": ', "what is broken stays as the model wrote it");
});

test("a call without a name is named so that the model learns of it; an empty piece is no call", () => {
  assert.deepEqual(plain({ index: 0, arguments: '{"a":1}' }), [[UNNAMED, '{"a":1}']]);
  assert.deepEqual(plain({ index: 0 }), []);
});

test("more calls than any model means end the answer", () => {
  const collector = createCallCollector(NAMES);
  assert.throws(() => {
    for (let i = 0; i < 2000; i++) collector.add({ index: i, id: `c${i}`, name: "read" });
  }, RangeError);
});

test("long arguments in many pieces that repeat the name take time in proportion", () => {
  const collector = createCallCollector(NAMES);
  const began = performance.now();
  collector.add({ index: 0, name: "bash", arguments: '{"command":"' });
  for (let i = 0; i < 50_000; i++) collector.add({ index: 0, name: "bash", arguments: "xxxxxxxx" });
  collector.add({ index: 0, arguments: '"}' });
  assert.equal(collector.finish()[0]?.call.arguments.length, 400_014);
  assert(performance.now() - began < 2000);
});

test("nineLetterId() keeps what fits and maps the rest, the same every time", () => {
  assert.equal(nineLetterId("abcDEF123"), "abcDEF123");
  assert.match(nineLetterId("call_abc"), /^[A-Za-z0-9]{9}$/u);
  assert.equal(nineLetterId("call_abc"), nineLetterId("call_abc"));
  const many = new Set(Array.from({ length: 20_000 }, (_, i) => nineLetterId(`call_${i}`)));
  assert.equal(many.size, 20_000);
});
