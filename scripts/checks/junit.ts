/**
 * Counts of a JUnit report.
 *
 * @module
 */
import { readFile } from "node:fs/promises";

/** What ran and how it ended. */
export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

const TEST_CASE = /<testcase\b[^>]*?(?:\/>|>([\s\S]*?)<\/testcase>)/gu;

/** Counts the test cases of a JUnit report, steps included. */
export function countJunit(xml: string): TestCounts {
  let [passed, failed, skipped] = [0, 0, 0];
  for (const [, inside = ""] of xml.matchAll(TEST_CASE)) {
    if (/<(?:failure|error)\b/u.test(inside)) failed++;
    else if (/<skipped\b/u.test(inside)) skipped++;
    else passed++;
  }
  return { passed, failed, skipped };
}

/** Returns the test files of a report in which a test failed; none where there is no report. */
export async function failedFiles(report: string): Promise<string[]> {
  const xml = await readFile(report, "utf8").catch(() => "");
  const suites = xml.matchAll(/<testsuite\b([^>]*)>/gu);
  return [...suites].flatMap(([, attributes = ""]) => {
    const name = /\bname="([^"]*)"/u.exec(attributes)?.[1];
    const failed = /\b(?:failures|errors)="[1-9]/u.test(attributes);
    return failed && name !== undefined ? [name] : [];
  });
}
