import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { programUnderTest } from "../../tests/support/program.ts";
import { measureThroughput } from "./throughput.ts";

test("a long answer is shown and saved at a good part of the rate of a bare loop, in flat memory", {
  skip: process.platform !== "linux",
}, async () => {
  const { share, peakMiB } = await measureThroughput({ mm: programUnderTest(), runs: 2 });
  // The aim is 60 %, which the benchmark shows on a quiet machine; other tests run beside this one.
  assert.ok(share > 0.25, `only ${Math.round(share * 100)} % of the rate of a bare loop`);
  const more = peakMiB.many - peakMiB.few;
  assert.ok(more < 120, `${more.toFixed(0)} MiB more for 18 000 chunks more`);
});
