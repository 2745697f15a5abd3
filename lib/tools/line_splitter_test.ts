import assert from "node:assert/strict";
import { test } from "node:test";
import { LineSplitter } from "./line_splitter.ts";

function split(pieces: readonly string[], maxLine = 100): string[] {
  const splitter = new LineSplitter(maxLine);
  const lines = pieces.flatMap((piece) => splitter.push(piece));
  const last = splitter.end();
  return [...lines, ...(last === undefined ? [] : [last])].map(({ text, length }) =>
    text.length === length ? text : `${text}(${length})`
  );
}

test("LineSplitter gives the same lines wherever the pieces are cut", () => {
  const text = "one\r\ntwo\n\n\r\nth\rree\r\r\nlast 😀";
  const whole = split([text]);
  assert.deepEqual(whole, ["one", "two", "", "", "th\rree\r", "last 😀"]);
  for (let at = 0; at <= text.length; at++) {
    assert.deepEqual(split([text.slice(0, at), text.slice(at)]), whole, `cut at ${at}`);
  }
  assert.deepEqual(split([...text]), whole);
});

test("LineSplitter does not split at other separators of lines", () => {
  assert.deepEqual(split(["a\u2028b\u2029c\u0085d\fe\n"]), ["a\u2028b\u2029c\u0085d\fe"]);
});

test("LineSplitter takes a line end at the end for no further line", () => {
  assert.deepEqual(split([]), []);
  assert.deepEqual(split([""]), []);
  assert.deepEqual(split(["a\n"]), ["a"]);
  assert.deepEqual(split(["\n"]), [""]);
  assert.deepEqual(split(["a\r"]), ["a\r"]);
});

test("LineSplitter keeps the beginning of a long line, never half a pair, and its length", () => {
  assert.deepEqual(split(["abcdefgh\nx\n"], 3), ["abc(8)", "x"]);
  assert.deepEqual(split([..."abcdefgh\r\nx\n"], 3), ["abc(8)", "x"]);
  assert.deepEqual(split(["ab😀cd\n"], 3), ["ab(6)"]);
  assert.deepEqual(split([..."ab\ud83d\ude00cd\n".split("")], 3), ["ab(6)"]);
  assert.deepEqual(split(["abc\r\n"], 3), ["abc"]);
});
