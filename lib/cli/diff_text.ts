/**
 * A change of a file as lines of text, coloured where that is allowed.
 *
 * @module
 */
import { relative } from "node:path";
import { structuredPatch } from "diff";
import { isWithin } from "../base/is_within.ts";
import type { FileDiff } from "../base/tool_call.ts";
import type { Paint } from "./paint.ts";
import { visibleText } from "./safe_text.ts";

/** How long a comparison may take; what takes longer is shown as removed and added whole. */
const COMPARE_MS = 500;

/** Options of {@linkcode diffText}. */
export interface DiffTextOptions {
  readonly paint: Paint;
  /** Paths inside it are shown relative to it. */
  readonly cwd: string;
  /** Lines shown; what is left out is counted. Absent: all. */
  readonly maxLines?: number;
}

/** Returns a change with a heading and a final newline; control characters are written out. */
export function diffText(diff: FileDiff, options: DiffTextOptions): string {
  const { paint, maxLines = Infinity } = options;
  const kind = diff.oldText === null ? " (new file)" : "";
  const lines = changedLines(withoutSharedCrlf(diff));
  const shown = lines.slice(0, maxLines).map((line) => {
    const text = `  ${visibleText(line)}`;
    if (line.startsWith("+")) return paint.green(text);
    if (line.startsWith("-")) return paint.red(text);
    return line.startsWith("@@") ? paint.cyan(text) : text;
  });
  if (lines.length > shown.length) {
    shown.push(paint.dim(`  … ${lines.length - shown.length} more lines`));
  }
  const path = visibleText(shownPath(diff.path, options.cwd)).replace(/\n/gu, "\\n");
  return [`  ${paint.bold(path)}${kind}`, ...shown].join("\n") + "\n";
}

/** Returns a path relative to `cwd` where it lies inside, else as it is. */
export function shownPath(path: string, cwd: string): string {
  return path !== cwd && isWithin(cwd, path) ? relative(cwd, path) : path;
}

/** A carriage return in every line says nothing where it does not change. */
function withoutSharedCrlf(diff: FileDiff): FileDiff {
  const crlf = (text: string) => text.includes("\r\n") && !/(?<!\r)\n/u.test(text);
  if (!crlf(diff.newText) || (diff.oldText !== null && !crlf(diff.oldText))) return diff;
  return {
    path: diff.path,
    oldText: diff.oldText?.replaceAll("\r\n", "\n") ?? null,
    newText: diff.newText.replaceAll("\r\n", "\n"),
  };
}

function changedLines(diff: FileDiff): string[] {
  if (diff.oldText === null) return wholeLines(diff.newText, "+");
  const patch = structuredPatch("", "", diff.oldText, diff.newText, "", "", {
    context: 3,
    timeout: COMPARE_MS,
  });
  if (patch === undefined) {
    return [...wholeLines(diff.oldText, "-"), ...wholeLines(diff.newText, "+")];
  }
  return patch.hunks.flatMap((hunk) => [
    `@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`,
    ...hunk.lines,
  ]);
}

function wholeLines(text: string, mark: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => mark + line);
}
