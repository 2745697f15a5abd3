/**
 * Counts of a JUnit report.
 *
 * @module
 */

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
