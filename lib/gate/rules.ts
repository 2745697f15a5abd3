/**
 * The rules of the gate: `tool`, `tool(pattern)`, `bob/tool(pattern)`.
 *
 * A `*` in a name stands for any characters but `/`; in a pattern for any characters. A pattern that
 * ends in ` *` also matches without what follows the space.
 *
 * @module
 */
import picomatch from "picomatch";

/** A rule as it was understood. */
export interface Rule {
  /** As it was written. */
  readonly source: string;
  /** The tool's full name, `*` allowed. */
  readonly name: string;
  /** What the call must be about; absent for any. */
  readonly pattern: string | undefined;
}

/** What a call is about, for the pattern of a rule. */
export interface RuleSubject {
  /** The full name: `bash`, `bob/edit`. */
  readonly name: string;
  /** Whether the texts are command lines of a shell. */
  readonly shell: boolean;
  /** The command, or the path in each of its spellings. A pattern has to match one of them. */
  readonly texts: readonly string[];
}

/** Returns the rule in `source`, or `undefined` when it has no such form. */
export function parseRule(source: string): Rule | undefined {
  const match = /^([^\s()]+)(?:\((.*)\))?$/su.exec(source.trim());
  const name = match?.[1];
  if (name === undefined) return undefined;
  return { source, name, pattern: match?.[2] };
}

/**
 * Says whether a rule that permits covers the call. A pattern for a shell covers a command only when
 * it is one simple command or the pattern is that very text, so that `git status *` never lets
 * `git status; rm -rf x` through.
 */
export function permits(rule: Rule, subject: RuleSubject): boolean {
  if (!nameMatches(rule.name, subject.name)) return false;
  const { pattern } = rule;
  if (pattern === undefined) return true;
  return subject.texts.some((text) =>
    text === pattern ||
    (!(subject.shell && !isSimpleCommand(text)) && wildcardMatches(pattern, text))
  );
}

/**
 * Says whether a rule that restricts (`ask`, `deny`) covers the call. It looks at the whole command
 * and at each part of a chained one: where in doubt it covers.
 */
export function restricts(rule: Rule, subject: RuleSubject): boolean {
  if (!nameMatches(rule.name, subject.name)) return false;
  const { pattern } = rule;
  if (pattern === undefined) return true;
  return subject.texts.some((text) => {
    const parts = subject.shell ? [text, ...commandParts(text)] : [text];
    return parts.some((part) => wildcardMatches(pattern, part));
  });
}

/** Says whether a command line is one command without chains, substitutions and redirections. */
export function isSimpleCommand(command: string): boolean {
  return !/[;&|<>`\n\r(){}]|\$[({'"]/u.test(command.trim());
}

function commandParts(command: string): string[] {
  return command.split(/[;&|\n\r(){}`<>]+|\$\(/u)
    .map((part) => part.trim().replace(/^(?:\w+=\S*\s+)+/u, ""))
    .filter((part) => part !== "");
}

function nameMatches(ruleName: string, name: string): boolean {
  return ruleName === name || picomatch.isMatch(name, ruleName, { nobrace: true, noextglob: true });
}

function wildcardMatches(pattern: string, text: string): boolean {
  if (pattern.endsWith(" *") && text === pattern.slice(0, -2)) return true;
  const source = pattern.split(/\*+/u).map((part) => part.replace(/[\\^$.|?+()[\]{}]/gu, "\\$&"));
  return new RegExp(`^${source.join(".*")}$`, "su").test(text);
}
