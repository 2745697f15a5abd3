/**
 * Which rule would let a call run without a person.
 *
 * @module
 */
import type { PermissionQuestion } from "./question.ts";
import { parseRule, permits } from "./rules.ts";
import { subjectOf } from "./subject.ts";

/** UTF-16 units of a pattern that somebody may be expected to copy. */
const MAX_PATTERN = 100;

/**
 * Returns a rule for `permissions.allow` that covers the call of a question: with its very text, and
 * without a pattern where that is too long, has several lines or is about several things.
 */
export async function neededRule(
  { call, cwd }: Pick<PermissionQuestion, "call" | "cwd">,
): Promise<string> {
  const subject = await subjectOf(call, cwd);
  // The last spelling of a path is the one inside the directory.
  const text = subject.about.length === 1 ? subject.about[0]?.texts.at(-1) : undefined;
  const exact = text === undefined || text.length > MAX_PATTERN || text.includes("\n")
    ? undefined
    : parseRule(`${call.name}(${text})`);
  return exact !== undefined && permits(exact, subject) ? exact.source : call.name;
}
