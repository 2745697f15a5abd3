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

/** Further runs of what failed, in CI. */
const MORE_RUNS = 2;

/**
 * Runs tests. Where `CI` is `true`, files with a failure are run again, at most twice, one after the
 * other, and a test that then passes counts as passed; how many did is said. A machine that builds for
 * others is busy in ways that no test can know; at home a test has to pass at once.
 */
export async function runTests(options: RunTestsOptions): Promise<TestRun> {
  const first = await runOnce(options);
  let last = first;
  let { report } = options;
  for (let run = 1; run <= MORE_RUNS && last.failed > 0 && process.env.CI === "true"; run++) {
    const targets = await failedFiles(report);
    process.stdout.write(`== again, by themselves: ${targets.join(" ")}\n`);
    report = options.report.replace(/\.xml$/u, `-${run + 1}.xml`);
    last = await runOnce({ ...options, targets, report, parallel: false });
    process.stdout.write(`== ${last.failed} of ${first.failed} failed again\n`);
  }
  if (last === first) return first;
  const mended = Math.max(0, first.failed - last.failed);
  const { failed, ok } = last;
  return { passed: first.passed + mended, failed, skipped: first.skipped, ok };
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
