import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import process from "node:process";
import { test } from "node:test";
import { promisify } from "node:util";
import {
  askDepthOfEnviron,
  effectiveAskDepth,
  MAX_CHAIN_DEPTH,
  parseAskDepth,
} from "./ask_depth.ts";
import { moduleLiteral, scriptCommand } from "./script_for_tests.ts";

test("parseAskDepth() takes whole numbers and caps them", () => {
  assert.deepEqual(["0", "1", "2", "3", "999999999"].map(parseAskDepth), [0, 1, 2, 3, 10]);
  assert.equal(parseAskDepth(undefined), 0);
});

test("parseAskDepth() takes anything else as the maximum", () => {
  for (const value of ["", " ", "-1", "NaN", "1e9", "0x0", "1.5", "0 ", "٠", "9999999999", "no"]) {
    assert.equal(parseAskDepth(value), MAX_CHAIN_DEPTH, JSON.stringify(value));
  }
});

test("askDepthOfEnviron() reads the variable and not one that ends like it", () => {
  assert.equal(askDepthOfEnviron("A=1\0MM_ASK_DEPTH=1\0B=2\0"), 1);
  assert.equal(askDepthOfEnviron("NOT_MM_ASK_DEPTH=2\0X=MM_ASK_DEPTH=2\0"), 0);
  assert.equal(askDepthOfEnviron("MM_ASK_DEPTH=0\0MM_ASK_DEPTH=1\0"), 1);
  assert.equal(askDepthOfEnviron(""), 0);
});

const PROBE = scriptCommand(`
  import { effectiveAskDepth } from ${moduleLiteral("./ask_depth.ts")};
  console.log(await effectiveAskDepth(process.env));
`);

/** Runs a shell command in which \`"$@"\` prints the depth, in a process of the given depth. */
async function depthOf(command: string, depth: string | undefined): Promise<number> {
  const env = { ...process.env };
  delete env["MM_ASK_DEPTH"];
  if (depth !== undefined) env["MM_ASK_DEPTH"] = depth;
  // The outer shell stands for the asked agent: it is started with the depth and stays.
  const { stdout } = await promisify(execFile)(
    "sh",
    ["-c", `${command}; exit $?`, "sh", ...PROBE],
    { env },
  );
  return Number(stdout);
}

test("effectiveAskDepth() is what the environment says, without tricks", async () => {
  assert.equal(await depthOf('"$@"', undefined), 0);
  assert.equal(await depthOf('"$@"', "1"), 1);
  assert.equal(await depthOf('MM_ASK_DEPTH=2 "$@"', "1"), 2);
  assert.equal(await depthOf('"$@"', "rubbish"), MAX_CHAIN_DEPTH);
});

for (
  const trick of [
    'MM_ASK_DEPTH=0 "$@"',
    'env -u MM_ASK_DEPTH "$@"',
    'env -i PATH="$PATH" HOME="$HOME" "$@"',
    'unset MM_ASK_DEPTH; sh -c \'export MM_ASK_DEPTH=0; "$@"; exit $?\' sh "$@"',
    'env -u MM_ASK_DEPTH setsid --wait "$@"',
  ]
) {
  test(`effectiveAskDepth() is not lowered by: ${trick}`, async () => {
    assert.equal(await depthOf(trick, "1"), 1);
    assert.equal(await depthOf(trick, "2"), 2);
  });
}

test("effectiveAskDepth() takes the given environment, not this process's", async () => {
  assert.equal(await effectiveAskDepth({ MM_ASK_DEPTH: "2" }), 2);
});
