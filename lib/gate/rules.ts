/**
 * The rules of the gate: `tool`, `tool(pattern)`, `bob/tool(pattern)`.
 *
 * A `*` in a name stands for any characters but `/`; in a pattern for any characters. A pattern that
 * ends in ` *` also matches without what follows the space.
 *
 * @module
 */
import picomatch from "picomatch";
import { wildcardMatches } from "./wildcard.ts";

/** A rule as it was understood. */
export interface Rule {
  /** As it was written. */
  readonly source: string;
  /** The tool's full name, `*` allowed. */
  readonly name: string;
  /** What the call must be about; absent for any. */
  readonly pattern: string | undefined;
}

/** One thing that a call is about. */
export interface RuleText {
  /** A command or a title; a path in each of its spellings. A pattern has to match one of them. */
  readonly texts: readonly string[];
  /** Whether it may be a command line of a shell. */
  readonly shell: boolean;
  /** Whether it names an agent: one is called by its name in any case. @default {false} */
  readonly agent?: boolean;
}

/** What a call is about, for the pattern of a rule. */
export interface RuleSubject {
  /** The full name: `bash`, `bob/edit`. */
  readonly name: string;
  /** Everything it is about: a rule that permits has to cover all of it, one that restricts any. */
  readonly about: readonly RuleText[];
  /** What else it says of itself, for rules that restrict. */
  readonly claims: readonly string[];
}

/** Returns the rule in `source`, or `undefined` when it has no such form. */
export function parseRule(source: string): Rule | undefined {
  const match = /^([^\s()]+)(?:\((.*)\))?$/su.exec(source.trim());
  const name = match?.[1];
  if (name === undefined) return undefined;
  return { source, name, pattern: match?.[2] };
}

/** Says whether a rule, as it is written, is about calls of an asked agent: `bob/…`, or a pattern. */
export function concernsAgent(source: string, agent: string): boolean {
  const [first, ...rest] = parseRule(source)?.name.split("/") ?? [];
  return first !== undefined && rest.length > 0 && nameMatches(first, agent);
}

/**
 * Returns a rule about calls of `agent` as that agent's own rule, `read(x)` for `explore/read(x)`, or
 * `undefined` for a rule about others. For rules that restrict: the name counts in any case.
 */
export function ownRule(rule: Rule, agent: string): Rule | undefined {
  const slash = rule.name.indexOf("/");
  if (slash === -1 || !nameMatches(anyCase(rule.name.slice(0, slash)), anyCase(agent))) {
    return undefined;
  }
  return { ...rule, name: rule.name.slice(slash + 1) };
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
  const covers = ({ texts, shell }: RuleText) =>
    texts.some((text) =>
      text === pattern || (!(shell && !isSimpleCommand(text)) && patternMatches(pattern, text))
    );
  return subject.about.length > 0 && subject.about.every(covers);
}

/**
 * Says whether a rule that restricts (`ask`, `deny`) covers the call. It looks at the whole command
 * and at each part of a chained one, takes names of tools and agents in any case, and reads past
 * quotation marks and white space: where in doubt it covers.
 */
export function restricts(rule: Rule, subject: RuleSubject): boolean {
  if (!nameMatches(rule.name.toLowerCase(), subject.name.toLowerCase())) return false;
  const { pattern } = rule;
  if (pattern === undefined) return true;
  const plain = subject.about.flatMap(({ texts }) => texts);
  const commands = subject.about.flatMap(({ texts, shell }) => shell ? texts : []);
  const agents = subject.about.flatMap(({ texts, agent }) => agent === true ? texts : []);
  if (agents.some((name) => patternMatches(anyCase(pattern), anyCase(name)))) return true;
  return [...plain, ...subject.claims].some((text) => patternMatches(pattern, text)) ||
    [...commands, ...subject.claims].some((text) =>
      commandParts(text).some((part) => patternMatches(pattern, part))
    );
}

/** Says whether a command line is one command without chains, substitutions and redirections. */
export function isSimpleCommand(command: string): boolean {
  return !/[;&|<>`\n\r(){}]|\$[({'"]/u.test(command.trim());
}

/** Words of the shell that stand before a command, and programs that run the one behind them. */
const BEFORE_COMMAND =
  /^(?:(?:!|if|then|elif|else|while|until|do|time|exec|command|builtin|nohup|env|\w+=\S*)\s+)+/u;

/** The single commands in a command line, each as it stands and without its quotation marks. */
function commandParts(command: string): string[] {
  return command.replace(/\\\r?\n/gu, "").split(/[;&|\n\r(){}`<>]+|\$\(/u)
    .map((part) => part.replace(/\s+/gu, " ").trim().replace(BEFORE_COMMAND, ""))
    .flatMap((part) => /["'\\]/u.test(part) ? [part, part.replace(/["'\\]/gu, "")] : [part])
    .filter((part) => part !== "");
}

/** What all spellings of an agent's name have in common. */
function anyCase(name: string): string {
  return name.normalize("NFC").trim().toLowerCase();
}

function nameMatches(ruleName: string, name: string): boolean {
  return ruleName === name ||
    picomatch.isMatch(name, ruleName, { nobrace: true, noextglob: true, dot: true });
}

function patternMatches(pattern: string, text: string): boolean {
  if (pattern.endsWith(" *") && text === pattern.slice(0, -2)) return true;
  return wildcardMatches(pattern, text);
}
