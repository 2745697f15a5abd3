/**
 * One run of test files, with its counts; in CI with a second run of what failed.
 *
 * @module
 */
import { readFile, rm } from "node:fs/promises";
import process from "node:process";
import { countJunit, failedFiles, type TestCounts } from "./junit.ts";
import { runCommand } from "./run_command.ts";

/** A run that hangs is ended after this many milliseconds, and has failed. */
export const TIME_LIMIT_MS: number = 30 * 60_000;

/** Options of {@linkcode runTests}. */
export interface RunTestsOptions {
  /** Files and folders. */
  readonly targets: readonly string[];
  /** Where the JUnit report is written. */
  readonly report: string;
  /** Whether files run at the same time. */
  readonly parallel?: boolean;
  /** Variables besides this process's. */
  readonly env?: Readonly<Record<string, string>>;
}

/** How a run ended. `ok` is false also when a file failed outside its tests. */
export interface TestRun extends TestCounts {
  readonly ok: boolean;
}

/**
 * Runs tests. Where `CI` is `true`, files with a failure are run once more, one after the other, and a
 * test that then passes counts as passed; it is named. A machine that builds for others is busy in ways
 * that no test can know; at home a test has to pass at once.
 */
export async function runTests(options: RunTestsOptions): Promise<TestRun> {
  const first = await runOnce(options);
  const files = process.env.CI === "true" ? await failedFiles(options.report) : [];
  if (files.length === 0) return first;
  process.stdout.write(`== once more, by themselves: ${files.join(" ")}\n`);
  const report = options.report.replace(/\.xml$/u, "-again.xml");
  const second = await runOnce({ ...options, targets: files, report, parallel: false });
  const mended = Math.max(0, first.failed - second.failed);
  process.stdout.write(`== passed at the second run only: ${mended} of ${first.failed}\n`);
  return {
    passed: first.passed + mended,
    failed: second.failed,
    skipped: first.skipped,
    ok: second.ok,
  };
}

async function runOnce(options: RunTestsOptions): Promise<TestRun> {
  const { targets, report, parallel = false, env } = options;
  await rm(report, { force: true });
  const status = await runCommand([
    process.execPath,
    "test",
    "-A",
    "--no-check",
    ...(parallel ? ["--parallel"] : []),
    `--junit-path=${report}`,
    ...targets,
  ], { timeoutMs: TIME_LIMIT_MS, ...(env === undefined ? {} : { env }) });
  const counts = countJunit(await readFile(report, "utf8").catch(() => ""));
  return { ...counts, ok: status === 0 };
}
