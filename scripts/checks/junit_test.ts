import { test } from "node:test";
import assert from "node:assert/strict";
import { countJunit } from "./junit.ts";

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
