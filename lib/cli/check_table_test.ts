import { strict as assert } from "node:assert";
import { test } from "node:test";
import { tableText } from "./check_table.ts";

test("tableText() lines rows up and keeps escapes of servers and agents out", () => {
  assert.equal(
    tableText([
      { what: "model", ok: true, detail: "x/y" },
      { what: "reasoning", detail: "none seen" },
      { what: "agent bob", ok: false, detail: "one\n\x1b[2Jtwo\n" },
    ], false),
    "OK    model      x/y\n--    reasoning  none seen\nFAIL  agent bob  one\n                 two\n",
  );
});
