import { test } from "node:test";
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { bundle, CHUNKS, MAIN, UNSTABLE } from "./bundle.ts";

test("bundle() keeps lazily loaded parts as chunks, and the result runs", async () => {
  const folder = await mkdtemp(join(tmpdir(), "mm-bundle-"));
  try {
    const entry = join(folder, "entry.ts");
    await writeFile(join(folder, "late.ts"), 'export const late: string = "loaded late";\n');
    await writeFile(
      entry,
      // A CommonJS `require` of a builtin is what bundled packages do.
      "declare const require: (name: string) => { sep: string };\n" +
        'const { late } = await import("./late.ts");\n' +
        'console.log(late, require("node:path").sep);\nexport {};\n',
    );
    const out = join(folder, "out");
    await bundle(entry, out);
    const chunks = await readdir(join(out, CHUNKS));
    assert.equal(chunks.filter((name) => name.startsWith("late-")).length, 1);
    assert.doesNotMatch(await readFile(join(out, MAIN), "utf8"), /loaded late/u);
    assert.deepEqual(JSON.parse(await readFile(join(out, "deno.json"), "utf8")), {
      unstable: UNSTABLE,
    });
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, ["run", "-A", join(out, MAIN)]);
    assert.equal(stdout, "loaded late /\n");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
