import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { readProc } from "./proc_files.ts";

const skip = process.platform !== "linux";

test(
  "readProc() gives what its script prints, with its arguments as they are",
  { skip },
  async () => {
    assert.equal(await readProc('printf "%s|" "$@"', ["a b", "$(c)"]), "a b|$(c)|");
  },
);

test("readProc() leaves out what cannot be read and keeps the rest", { skip }, async () => {
  const text = await readProc("exec cat /proc/none/stat /proc/$1/stat", [String(process.pid)]);
  assert.ok(text.startsWith(`${process.pid} (`), text);
});
