import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { EXIT } from "../base/ends.ts";
import { FLAGS } from "./flags.ts";
import { helpText, usageOf } from "./help.ts";

test("helpText() names every flag with its text and fits a terminal of 120 columns", () => {
  const help = helpText();
  for (const flag of FLAGS) {
    assert(help.includes(usageOf(flag)), flag.name);
    assert(help.includes(flag.text), flag.name);
  }
  for (const line of help.split("\n")) assert(line.length <= 125, line);
  assert(help.endsWith("\n"));
});

test("the reference documentation lists exactly the flags of the table, with their texts", () => {
  const page = readFileSync(
    new URL("../../docs/reference/command-line.md", import.meta.url),
    "utf8",
  );
  const rows = [...page.matchAll(/^\| `(--?[^`]+)`\s*\| (.+?)\s*\|$/gmu)].map((m) => [m[1], m[2]]);
  assert.deepEqual(rows, FLAGS.map((flag) => [usageOf(flag), flag.text]));
});

test("the reference documentation lists exactly the exit statuses", () => {
  const page = readFileSync(
    new URL("../../docs/reference/command-line.md", import.meta.url),
    "utf8",
  );
  const rows = [...page.matchAll(/^\| (\d+)\s*\|/gmu)].map((m) => Number(m[1]));
  assert.deepEqual(rows, Object.values(EXIT).sort((a, b) => a - b));
});
