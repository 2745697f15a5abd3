/**
 * `deno task test [file or folder…]`: one command that proves everything. Without arguments: the
 * form, the rules and the types of all files, then all tests; with arguments: these tests alone.
 *
 * The last line is `N passed, N failed`, counted from the test runner's report; a check that fails
 * counts as one failure.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { ROOT } from "./checks/repository.ts";
import { runCommand } from "./checks/run_command.ts";
import { runTests, TIME_LIMIT_MS } from "./checks/test_run.ts";

const REPORT = join(ROOT, "build", "junit.xml");

interface Check {
  readonly name: string;
  /** Arguments of the runtime. */
  readonly args: readonly string[];
}

const CHECKS: readonly Check[] = [
  { name: "form", args: ["fmt", "--check", "--quiet"] },
  { name: "lint", args: ["lint", "--quiet"] },
  { name: "layers", args: ["run", "-A", "--no-check", "scripts/check_layers.ts"] },
  { name: "documentation links", args: ["run", "-A", "--no-check", "scripts/check_docs_links.ts"] },
  ...(existsSync(join(ROOT, "scripts", "write_schema.ts"))
    ? [{ name: "schema", args: ["run", "-A", "--no-check", "scripts/write_schema.ts", "--check"] }]
    : []),
  { name: "types", args: ["check", "--quiet", "."] },
  { name: "published documentation", args: ["doc", "--lint", "mod.ts"] },
  // Public types have to be written out; what is not committed yet may differ.
  { name: "publication", args: ["publish", "--dry-run", "--allow-dirty", "--quiet"] },
  { name: "documented examples", args: ["test", "-A", "--no-check", "--doc", "mod.ts"] },
];

/** Runs a step and returns whether it succeeded; says its name, its time and how it went. */
async function step({ name, args }: Check): Promise<boolean> {
  process.stdout.write(`== ${name}\n`);
  const start = performance.now();
  const status = await runCommand([process.execPath, ...args], { timeoutMs: TIME_LIMIT_MS });
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  process.stdout.write(`== ${name}: ${status === 0 ? "ok" : "FAILED"} (${seconds} s)\n`);
  return status === 0;
}

const targets = process.argv.slice(2);
const failedChecks: string[] = [];
if (targets.length === 0) {
  for (const check of CHECKS) if (!await step(check)) failedChecks.push(check.name);
}

await mkdir(join(ROOT, "build"), { recursive: true });
process.stdout.write("== tests\n");
const counts = await runTests({
  targets: targets.length === 0 ? ["lib", "tests", "scripts"] : targets,
  report: REPORT,
  parallel: true,
});
if (!counts.ok && counts.failed === 0) failedChecks.push("a test file outside its tests");
if (counts.passed + counts.failed === 0) failedChecks.push("no test ran");
for (const name of failedChecks) process.stdout.write(`failed: ${name}\n`);
if (counts.skipped > 0) process.stdout.write(`${counts.skipped} skipped\n`);
const failed = counts.failed + failedChecks.length;
process.stdout.write(`${counts.passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 && counts.ok ? 0 : 1;
