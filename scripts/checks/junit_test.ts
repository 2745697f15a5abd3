import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import assert from "node:assert/strict";
import { countJunit, failedFiles } from "./junit.ts";

test("countJunit() counts passed, failed and skipped cases", () => {
  const counts = countJunit(`<?xml version="1.0"?>
    <testsuites name="deno test" tests="5" failures="2">
      <testsuite name="a">
        <testcase name="1 &gt; 2" time="0.1">
        </testcase>
        <testcase name="3"/>
        <testcase name="4"><failure message="x">y</failure></testcase>
        <testcase name="5"><error>y</error></testcase>
        <testcase name="6"><skipped/></testcase>
      </testsuite>
    </testsuites>`);
  assert.deepEqual(counts, { passed: 2, failed: 2, skipped: 1 });
});

test("countJunit() counts nothing in an empty report", () => {
  assert.deepEqual(countJunit(""), { passed: 0, failed: 0, skipped: 0 });
});

test("failedFiles() names the files in which a test failed", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "mm-junit-"));
  t.after(() => rm(folder, { recursive: true }));
  const report = join(folder, "junit.xml");
  await writeFile(
    report,
    `<testsuites name="deno test" tests="5" failures="2" errors="0">
      <testsuite name="./a_test.ts" tests="2" errors="0" failures="1"></testsuite>
      <testsuite name="./b_test.ts" tests="2" errors="0" failures="0"></testsuite>
      <testsuite name="./c_test.ts" tests="1" errors="10" failures="0"></testsuite>
    </testsuites>`,
  );
  assert.deepEqual(await failedFiles(report), ["./a_test.ts", "./c_test.ts"]);
  assert.deepEqual(await failedFiles(join(folder, "none.xml")), []);
});
