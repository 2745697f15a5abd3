import { strict as assert } from "node:assert";
import { test } from "node:test";
import { createPasteFolder } from "./paste.ts";

const PASTE = "\x1b[200~one\r\n\ttwo\rthree\n\x1b[201~";

test("createPasteFolder() makes one line of pasted lines and gives them back", () => {
  const folder = createPasteFolder();
  const line = folder.push(`a${PASTE}b`);
  assert.equal(line, "aone␤␉two␤threeb");
  assert.equal(folder.unfold(line), "aone\n\ttwo\nthreeb");
});

test("createPasteFolder() copes with a paste cut anywhere but right behind the escape", () => {
  for (let cut = 1; cut < PASTE.length; cut++) {
    // A lone escape is passed on at once: it may be the key.
    if (["\x1b", "["].includes(PASTE[cut - 1] ?? "")) continue;
    const folder = createPasteFolder();
    const line = folder.push(PASTE.slice(0, cut)) + folder.push(PASTE.slice(cut));
    assert.equal(line, "one␤␉two␤three", `cut at ${cut}`);
  }
});

test("createPasteFolder() passes keys on at once", () => {
  const folder = createPasteFolder();
  for (const key of ["\x1b", "\x1b[A", "\x03", "é", "\r", "\t"]) {
    assert.equal(folder.push(key), key);
  }
});

test("createPasteFolder() leaves the marks alone in a line without a paste", () => {
  const folder = createPasteFolder();
  assert.equal(folder.unfold("what does ␤ mean"), "what does ␤ mean");
});

test("createPasteFolder() takes control characters out of pasted text", () => {
  const folder = createPasteFolder();
  assert.equal(folder.push("\x1b[200~a\x03b\x1b[31mc\x1b[201~"), "abc");
});
