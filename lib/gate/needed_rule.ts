/**
 * Which rule would let a call run, and which one keeps it from running without a person.
 *
 * @module
 */
import type { PermissionRules } from "../config/types.ts";
import type { PermissionQuestion } from "./question.ts";
import { parseRule, permits, restricts } from "./rules.ts";
import { subjectOf } from "./subject.ts";

/** UTF-16 units of a pattern that somebody may be expected to copy. */
const MAX_PATTERN = 100;

/** What would have to be different for a call to run without a question. */
export interface NeededRule {
  /**
   * A rule for `permissions.allow` that covers this call: with its very text, and without a pattern
   * where that is too long, has several lines or is about several things.
   */
  readonly allow: string;
  /** The rule of `permissions.ask` that asks about the call whatever is allowed. */
  readonly ask: string | undefined;
}

/** Returns the rules for the call of a question. */
export async function neededRule(
  question: Pick<PermissionQuestion, "call" | "cwd">,
  rules: Pick<PermissionRules, "ask">,
): Promise<NeededRule> {
  const { call, cwd } = question;
  const subject = await subjectOf(call, cwd);
  const ask = rules.ask.find((source) => {
    const rule = parseRule(source);
    return rule !== undefined && restricts(rule, subject);
  });
  // The last spelling of a path is the one inside the directory.
  const text = subject.about.length === 1 ? subject.about[0]?.texts.at(-1) : undefined;
  const exact = text === undefined || text.length > MAX_PATTERN || text.includes("\n")
    ? undefined
    : parseRule(`${call.name}(${text})`);
  const covers = exact !== undefined && permits(exact, subject);
  return { allow: covers ? exact.source : call.name, ask };
}
