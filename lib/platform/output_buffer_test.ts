import assert from "node:assert/strict";
import { test } from "node:test";
import { OutputBuffer } from "./output_buffer.ts";

test("OutputBuffer keeps a text that just fits, whatever the pieces", () => {
  const text = "ab\u{1f600}cd\u{1f600}e";
  for (let size = 1; size <= text.length; size++) {
    const buffer = new OutputBuffer(text.length);
    for (const piece of wholePieces(text, size)) buffer.push(piece);
    assert.equal(buffer.text(), text);
    assert.equal(buffer.total, text.length);
  }
});

test("OutputBuffer keeps the beginning and the end, and says how much is missing", () => {
  const buffer = new OutputBuffer(200);
  for (let i = 0; i < 1000; i++) buffer.push(`line ${i}\n`);
  const text = buffer.text();
  assert.ok(text.length <= 200);
  assert.match(text, /^line 0\nline 1\n/u);
  assert.ok(text.endsWith("line 998\nline 999\n"));
  const [, omitted, total] = /\[\.\.\. (\d+) of (\d+) characters left out \.\.\.\]/u.exec(text) ??
    [];
  assert.equal(Number(total), buffer.total);
  const notice = text.match(/\n\[\.\.\..*\.\.\.\]\n/u)?.[0] ?? "";
  assert.equal(text.length - notice.length + Number(omitted), buffer.total);
});

test("OutputBuffer never keeps half a surrogate pair, wherever the cut falls", () => {
  for (let keep = 60; keep < 90; keep++) {
    for (let shift = 0; shift < 3; shift++) {
      const buffer = new OutputBuffer(keep);
      buffer.push("x".repeat(shift));
      for (let i = 0; i < 300; i++) buffer.push("\u{1f600}");
      assert.ok(buffer.text().isWellFormed(), `keep ${keep}, shift ${shift}`);
      assert.ok(buffer.text().length <= keep);
    }
  }
});

test("OutputBuffer does not fill the head with later text when a pair did not fit", () => {
  const buffer = new OutputBuffer(6);
  for (const piece of ["ab", "\u{1f600}", "cd"]) buffer.push(piece);
  assert.equal(buffer.text(), "ab\u{1f600}cd");
});

test("OutputBuffer without room says only what is missing", () => {
  const buffer = new OutputBuffer(0);
  buffer.push("abc");
  assert.equal(buffer.text(), "\n[... 3 of 3 characters left out ...]\n");
  assert.equal(new OutputBuffer(0).text(), "");
});

function wholePieces(text: string, size: number): string[] {
  const pieces: string[] = [];
  let piece = "";
  for (const char of text) {
    piece += char;
    if (piece.length >= size) {
      pieces.push(piece);
      piece = "";
    }
  }
  pieces.push(piece);
  return pieces;
}
