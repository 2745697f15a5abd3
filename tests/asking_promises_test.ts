/** The tests that docs/reference/asking.md names exist. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

const PAGE = new URL("../docs/reference/asking.md", import.meta.url);

test("every promise and every case of the reference names a test that exists", async () => {
  const page = await readFile(PAGE, "utf8");
  const rows = [
    ...page.matchAll(/^\| (.+?) +\| \[`\w+`\]\((\.\.\/\.\.\/\S+_test\.ts)\) +\| (.+?) +\|$/gmu),
  ];
  assert.ok(rows.length >= 70, `${rows.length}`);
  for (const [, promise, file = "", name = ""] of rows) {
    const source = await readFile(new URL(file, PAGE), "utf8");
    // A name stands between its quotes; the formatter may have put it on a line of its own.
    const quoted = [`"${name}"`, `\`${name}\``].some((one) => source.includes(one));
    assert.ok(quoted, `"${promise}" names a test that ${file} does not have: ${name}`);
  }
});
