/**
 * What is wrong with a configuration, and the one error that says all of it.
 *
 * @module
 */
import { headOf } from "../base/cut.ts";
import { UsageError } from "../base/errors.ts";

/** Keys and list positions from the top of the file to a value. */
export type KeyPath = readonly (string | number)[];

/** A place in a file; both numbers count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** One thing that is wrong. */
export interface Problem {
  /** The file with line and column, or the name of an environment variable or a flag. */
  readonly where: string;
  /** Order among the problems of the file; absent for what stands in no file. */
  readonly at?: Position;
  /** What is wrong and what to do, without a final period. */
  readonly text: string;
}

/** More problems than this are counted, not listed. */
const MAX_LISTED = 40;

/** Longer names and values are cut where they are quoted, in UTF-16 units. */
const MAX_QUOTED = 60;

/** Returns a problem at a place in a file. */
export function problemAt(file: string, at: Position, text: string): Problem {
  return { where: `${printable(file)}:${at.line}:${at.column}`, at, text };
}

/**
 * Returns one error for all problems, each on a line of its own as compilers write it:
 * `file:line:column: what is wrong`.
 */
export function problemsError(
  problems: readonly Problem[],
  clean: (text: string) => string,
): UsageError {
  const lines = [...problems].sort(byPosition)
    .map(({ where, text }) => `${where}: ${clean(text)}`);
  const distinct = [...new Set(lines)];
  if (distinct.length === 1) return new UsageError(distinct[0] ?? "");
  const more = distinct.length - MAX_LISTED;
  return new UsageError([
    `The configuration has ${distinct.length} problems:`,
    ...distinct.slice(0, MAX_LISTED),
    ...(more > 0 ? [`and ${more} more`] : []),
  ].join("\n"));
}

/** Returns a path as people write it: `mmConfigs.bob.command[0]`. */
export function formatPath(path: KeyPath): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else text += `${text === "" ? "" : "."}${quotable(part)}`;
  }
  return text;
}

/** Returns a name or value fit for a message: one line, no control characters, not too long. */
export function quotable(text: string): string {
  const clean = printable(text);
  return clean.length <= MAX_QUOTED ? clean : `${headOf(clean, MAX_QUOTED - 1)}…`;
}

/** Returns text without characters that a terminal obeys or that change how text is read. */
function printable(text: string): string {
  return text.toWellFormed().replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\ufffd");
}

function byPosition(a: Problem, b: Problem): number {
  if (a.at === undefined || b.at === undefined) {
    return Number(a.at === undefined) - Number(b.at === undefined);
  }
  return a.at.line - b.at.line || a.at.column - b.at.column;
}
