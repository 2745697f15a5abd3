import { strict as assert } from "node:assert";
import { test } from "node:test";
import { safeStream, safeText, visibleText } from "./safe_text.ts";

const HOSTILE = [
  ["a colour", "\x1b[31mred\x1b[0m", "red"],
  ["cursor movement", "one\x1b[2A\x1b[Ktwo", "onetwo"],
  ["a window title", "\x1b]0;owned\x07text", "text"],
  ["a link", "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"],
  ["the clipboard", "\x1b]52;c;cm0gLXJm\x07ok", "ok"],
  ["the alternate screen", "\x1b[?1049hgone", "gone"],
  ["eight-bit sequences", "\x9b31mred\x9d0;t\x9c.", "red."],
  ["a device string", "\x1bPq#0\x1b\\x", "Pq#0\\x"],
  ["a reset", "\x1bcx", "cx"],
  ["a character set", "\x1b(0x", "x"],
  ["a bell, a backspace and a delete", "a\x07b\bc\x7f", "abc"],
  ["an overwritten line", "rm -rf /\rls       ", "rm -rf /\nls       "],
  ["an open window title hides nothing", "\x1b]0;never closed", "]0;never closed"],
] as const;

for (const [what, input, output] of HOSTILE) {
  test(`safeText() neutralises ${what}`, () => {
    assert.equal(safeText(input), output);
  });

  test(`safeStream() neutralises ${what} cut anywhere`, () => {
    for (let cut = 0; cut <= input.length; cut++) {
      const stream = safeStream();
      const shown = stream.push(input.slice(0, cut)) + stream.push(input.slice(cut)) +
        stream.flush();
      assert.equal(shown, output, `cut at ${cut}`);
    }
  });

  test(`safeStream() neutralises ${what} one character at a time`, () => {
    const stream = safeStream();
    const shown = [...input].map((c) => stream.push(c)).join("") + stream.flush();
    assert.equal(shown, output);
  });
}

test("safeText() keeps newlines, tabs, emoji and text that runs from right to left", () => {
  const text = "a\tb\n👩‍👩‍👧 שלום é日本\u2028";
  assert.equal(safeText(text), text);
  assert.equal(safeText("a\r\nb"), "a\nb");
});

test("safeStream() holds nothing back of ordinary text", () => {
  const stream = safeStream();
  assert.equal(stream.push("hello [31m ]"), "hello [31m ]");
  assert.equal(stream.flush(), "");
});

test("visibleText() writes out what a terminal would hide", () => {
  assert.equal(visibleText("ls \x1b[8m; rm -rf x\x1b[0m"), "ls \\x1b[8m; rm -rf x\\x1b[0m");
  assert.equal(visibleText("a\u202eb"), "a\\u{202e}b");
  assert.equal(visibleText("a\rb\r\nc\td"), "a\\x0db\nc\td");
});
