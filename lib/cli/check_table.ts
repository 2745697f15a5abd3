/**
 * The table that `mm -check` prints.
 *
 * @module
 */
import { createPaint } from "./paint.ts";
import { safeText } from "./safe_text.ts";

/** What was tried, and what came of it. */
export interface CheckRow {
  readonly what: string;
  /** Absent where it cannot be told, or is neither. */
  readonly ok?: boolean;
  readonly detail: string;
}

/** Returns the rows as a table with its final newline. */
export function tableText(rows: readonly CheckRow[], colour: boolean): string {
  const paint = createPaint(colour);
  const width = Math.max(...rows.map((row) => row.what.length));
  const indent = " ".repeat(width + 8);
  return rows.map(({ what, ok, detail }) => {
    const mark = ok === undefined
      ? paint.dim("--  ")
      : ok
      ? paint.green("OK  ")
      : paint.red("FAIL");
    const text = safeText(detail).trimEnd().replaceAll("\n", `\n${indent}`);
    return `${mark}  ${what.padEnd(width)}  ${text}\n`;
  }).join("");
}
