import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { UsageError, UserError } from "../base/errors.ts";
import { report } from "./main.ts";

function reported(thrown: unknown, env: Record<string, string> = {}) {
  let text = "";
  const status = report(thrown, { env, err: (piece) => void (text += piece) });
  return { status, text };
}

test("report() says what a user did wrong, without a stack", () => {
  assert.deepEqual(reported(new UsageError("Unknown flag")), {
    status: 2,
    text: "mm: Unknown flag\n",
  });
  assert.equal(reported(new UserError("No server", { exit: 1 })).status, 1);
});

test("report() shows the stack of an unexpected error only when it is asked for", () => {
  const error = new TypeError("x is not a function");
  const quiet = reported(error);
  assert.equal(quiet.status, 1);
  assert.match(quiet.text, /^mm: Unexpected error: x is not a function\nmm: .*MM_LOG=debug/u);
  assert.doesNotMatch(quiet.text, /main_test/u);
  assert.match(reported(error, { MM_LOG: "debug" }).text, /main_test/u);
});

test("the program loads no library before it knows what to do", () => {
  const seen = new Set<string>();
  const bare = new Set<string>();
  const visit = (url: URL) => {
    if (seen.has(url.href)) return;
    seen.add(url.href);
    const source = readFileSync(url, "utf8");
    for (const match of source.matchAll(/^import (?!type )[^"(]*?from "([^"]+)"/gmu)) {
      const name = match[1] ?? "";
      if (name.startsWith(".")) visit(new URL(name, url));
      else if (!name.startsWith("node:")) bare.add(name);
    }
  };
  visit(new URL("../../cli.ts", import.meta.url));
  // A few lines that find the nearest flag.
  assert.deepEqual([...bare], ["fastest-levenshtein"]);
  assert(seen.size < 20, `${seen.size} files`);
});
