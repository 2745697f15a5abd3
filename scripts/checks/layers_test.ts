import { test } from "node:test";
import assert from "node:assert/strict";
import { checkLayers } from "./layers.ts";

const faultsOf = (...files: [string, string][]) =>
  checkLayers(files.map(([path, text]) => ({ path, text }))).faults;

test("checkLayers() accepts imports of the own and of lower layers", () => {
  const faults = faultsOf(
    ["lib/base/a.ts", "export const a = 1;\n"],
    ["lib/tools/b.ts", 'import { a } from "../base/a.ts";\nimport z from "zod";\n'],
    ["lib/tools/c.ts", 'import "./b.ts";\nconst x = await import("../base/a.ts");\n'],
    ["cli.ts", 'import { main } from "./lib/cli/main.ts";\n'],
    ["lib/cli/main.ts", "export const main = () => process.cwd() + process.env.HOME;\n"],
    ["lib/platform/os.ts", "export const pid = Deno.pid;\n"],
  );
  assert.deepEqual(faults, []);
});

test("checkLayers() reports an import against the direction", () => {
  for (
    const statement of [
      'import { x } from "../engine/x.ts";',
      'import type { X } from "../engine/x.ts";',
      'export * from "../engine/x.ts";',
      'const x = await import("../engine/x.ts");',
      'import {\n  x,\n} from "../engine/x.ts";',
    ]
  ) {
    const faults = faultsOf(["lib/tools/a.ts", statement], ["lib/engine/x.ts", ""]);
    assert.equal(faults.length, 1, statement);
    assert.match(faults[0] ?? "", /lib\/tools\/a\.ts:\d+: layer "tools" imports "lib\/engine\/x/u);
  }
});

test("checkLayers() lets a test import any layer", () => {
  assert.deepEqual(faultsOf(["lib/base/a_test.ts", 'import "../cli/main.ts"; Deno.pid;']), []);
});

test("checkLayers() reports an unknown layer and an import that leaves the layers", () => {
  assert.match(faultsOf(["lib/misc/a.ts", 'import "../base/a.ts";'])[0] ?? "", /no known layer/u);
  assert.match(
    faultsOf(["lib/base/a.ts", 'import "../../tests/support/x.ts";'])[0] ?? "",
    /outside the layers/u,
  );
});

test("checkLayers() reports a cycle with its path", () => {
  const faults = faultsOf(
    ["lib/base/a.ts", 'import "./b.ts";'],
    ["lib/base/b.ts", 'import type { C } from "./c.ts";'],
    ["lib/base/c.ts", 'import "./a.ts";'],
  );
  assert.deepEqual(faults, [
    "lib/base/a.ts: import cycle lib/base/a.ts -> lib/base/b.ts -> lib/base/c.ts -> lib/base/a.ts",
  ]);
});

test("checkLayers() reports the runtime's name outside the platform folder, in code only", () => {
  const faults = faultsOf([
    "lib/base/a.ts",
    [
      "// Deno.pid in a comment",
      "/* Deno.pid */",
      'const a = "Deno.pid";',
      "const b = `Deno.pid`;",
      "const c = /Deno.pid/;",
      "const d = `${Deno.pid}`;",
      "const e = Deno?.pid;",
    ].join("\n"),
  ]);
  assert.deepEqual(faults.map((f) => f.split(": ")[0]), ["lib/base/a.ts:6", "lib/base/a.ts:7"]);
});

test("checkLayers() reports global environment and directory", () => {
  const faults = faultsOf(
    ["lib/config/a.ts", "const x = process.env.HOME;\nconst y = process.cwd();"],
    ["lib/platform/b.ts", "const y = process.cwd();"],
    ["mod.ts", "export const e = process.env;"],
  );
  assert.deepEqual(faults.map((f) => f.split(": ")[0]), [
    "lib/config/a.ts:1",
    "lib/config/a.ts:2",
    "lib/platform/b.ts:1",
    "mod.ts:1",
  ]);
});

test("checkLayers() reports specifiers that only one runtime knows", () => {
  const faults = faultsOf([
    "lib/base/a.ts",
    'import "npm:zod@4";\nimport "jsr:@std/path";\nimport "https://x/y.ts";\nimport "./b";',
  ]);
  assert.equal(faults.length, 4);
});

test("checkLayers() reports a file that is too long, and measures the others", () => {
  const report = checkLayers([
    { path: "lib/base/a.ts", text: "x\n".repeat(10) },
    { path: "lib/base/b.ts", text: "x\n".repeat(501) },
    { path: "lib/base/c.ts", text: "x\n".repeat(20) },
    { path: "lib/base/c_test.ts", text: "x\n".repeat(300) },
  ]);
  assert.equal(report.faults.length, 1);
  assert.match(report.faults[0] ?? "", /lib\/base\/b\.ts: has 501 lines/u);
  assert.deepEqual([report.files, report.median, report.max], [3, 20, 501]);
});
