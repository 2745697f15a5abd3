import { strict as assert } from "node:assert";
import { test } from "node:test";
import { coloursAllowed, createPaint } from "./paint.ts";

test("createPaint() writes colours only where they are allowed", () => {
  assert.equal(createPaint(true).red("x"), "\x1b[31mx\x1b[39m");
  assert.equal(createPaint(false).red("x"), "x");
  assert.equal(createPaint(true).red(""), "");
});

test("coloursAllowed() follows the terminal, TERM, NO_COLOR and FORCE_COLOR", () => {
  assert.equal(coloursAllowed({ isTty: true, env: {} }), true);
  assert.equal(coloursAllowed({ isTty: false, env: {} }), false);
  assert.equal(coloursAllowed({ isTty: true, env: { TERM: "dumb" } }), false);
  assert.equal(coloursAllowed({ isTty: true, env: { NO_COLOR: "1" } }), false);
  assert.equal(coloursAllowed({ isTty: true, env: { NO_COLOR: "" } }), true);
  assert.equal(coloursAllowed({ isTty: false, env: { FORCE_COLOR: "1" } }), true);
  assert.equal(coloursAllowed({ isTty: true, env: { FORCE_COLOR: "0" } }), false);
});
