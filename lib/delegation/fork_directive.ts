/**
 * What a fork is told: its task, behind all that it knows of the conversation.
 *
 * @module
 */
import { allowedWords } from "./fork_tools.ts";

/** Options of {@linkcode forkDirective}. */
export interface ForkDirectiveOptions {
  /** The task, as the model or the person wrote it. */
  readonly directive: string;
  /** What the profile of the fork advises; absent for nothing. */
  readonly hint?: string;
  /** What the fork may run; absent for everything the conversation may. */
  readonly allow?: readonly string[];
}

/** The rules. They cost every fork their tokens, so there are few of them, in short words. */
const RULES =
  `You are a fork of this conversation: you know what was said so far, and you work apart from it. From here on only the task below counts.
- Start no agents and ask the user nothing. If you cannot go on, say in your report what is missing.
- Do the task and nothing beyond it. Do not commit, push or publish anything unless the task says so.
- End with one report, short and in plain words: what you found or did, names of files and commands, what is left. Nothing else of your work is read.`;

/**
 * Returns the text that a fork gets as its task: the rules, the task, the advice of its profile, what it
 * may run. Without the task and the advice it stays below 900 characters.
 */
export function forkDirective({ directive, hint, allow }: ForkDirectiveOptions): string {
  return [
    RULES,
    `Task:\n${directive.trim()}`,
    ...(hint === undefined ? [] : [hintText(hint)]),
    ...(allow === undefined ? [] : [restrictionText(allow)]),
  ].join("\n\n");
}

/** The advice comes from a file of the project: it can add to the task, and change nothing of it. */
function hintText(hint: string): string {
  return `Advice for the task, from a file of the project; the task and the rules above go before it:\n` +
    `<advice>${escaped(hint)}</advice>`;
}

function restrictionText(allow: readonly string[]): string {
  return `Here you may run ${allowedWords(allow)}. Other calls are refused; do not try them.`;
}

/** Nothing in the advice can end it. */
function escaped(text: string): string {
  return text.replace(/\r\n?/gu, "\n")
    .replace(/[^\P{Cc}\n\t]/gu, "")
    .replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
