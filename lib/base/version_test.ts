import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { VERSION } from "./version.ts";

test("VERSION is the version of the manifest", () => {
  const manifest: unknown = JSON.parse(
    readFileSync(new URL("../../deno.json", import.meta.url), "utf8"),
  );
  assert.equal((manifest as { version: string }).version, VERSION);
});
