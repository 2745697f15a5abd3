/** Every scenario of docs/reference/delegation-scenarios.md has its test, or a reason why it has none. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

const PAGE = new URL("../docs/reference/delegation-scenarios.md", import.meta.url);

/** How many scenarios there are. */
const SCENARIOS = 111;

const TEST_ROW =
  /^\| (\S+?) +\| (.+?) +\| \[`\w+`\]\((\.\.\/\.\.\/\S+_test\.ts)\) +\| (.+?) +\|$/gmu;

test("every scenario of delegation names a test that exists, or says why it does not apply", async () => {
  const page = await readFile(PAGE, "utf8");
  const seen = new Set<string>();
  for (const [, number = "", scenario, file = "", name = ""] of page.matchAll(TEST_ROW)) {
    seen.add(number);
    const source = await readFile(new URL(file, PAGE), "utf8");
    // A name stands between its quotes; the formatter may have put it on a line of its own.
    const quoted = [`"${name}"`, `\`${name}\``].some((one) => source.includes(one));
    assert.ok(quoted, `${number} (${scenario}) names a test that ${file} does not have: ${name}`);
  }
  const [, without = ""] = page.split("## What does not apply");
  for (const [, number = ""] of without.matchAll(/^\| (\d+) +\| .+? +\| \S.+ \|$/gmu)) {
    seen.add(number);
  }
  const missing = Array.from({ length: SCENARIOS }, (_, at) => String(at + 1))
    .filter((number) => !seen.has(number));
  assert.deepEqual(missing, []);
});
