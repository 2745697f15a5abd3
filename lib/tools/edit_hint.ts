/**
 * Why the text an `edit` looks for is not in the file, as far as it can be told.
 *
 * @module
 */
import { distance } from "fastest-levenshtein";
import { oneLine } from "../base/cut.ts";
import { toLf } from "./line_endings.ts";

/** Lines that are compared; more would take noticeable time. */
const MAX_LINES = 20_000;

/** Longer lines are not compared letter by letter. */
const MAX_LENGTH = 400;

/** Share of letters that may differ in a line called similar. */
const MAX_DIFFERENT = 0.4;

/** UTF-16 units shown of the similar line. */
const SHOWN = 200;

/**
 * Returns what the model should know, beginning with `; `, or an empty string.
 *
 * @param content the file's text.
 * @param oldString the text that was not found in it.
 * @param newString the text that should replace it.
 */
export function notFoundHint(content: string, oldString: string, newString: string): string {
  const text = toLf(content);
  const wanted = toLf(oldString);
  const lines = text.split("\n", MAX_LINES);
  const wantedLines = wanted.replace(/^\n+|\n+$/gu, "").split("\n");

  if (wantedLines.every((line) => line === "" || /^\s*\d+\t/u.test(line))) {
    return "; it begins with line numbers, which read puts in front of lines and which are not in the file";
  }
  const unescaped = wanted.replaceAll("\\n", "\n").replaceAll("\\t", "\t").replaceAll('\\"', '"');
  if (unescaped !== wanted && text.includes(unescaped)) {
    return "; it would be found without the backslashes: write line breaks, tabs and quotes as they are";
  }
  const spaced = findLines(lines, wantedLines, (line) => line.replace(/\s+/gu, " ").trim());
  if (spaced > 0) {
    return `; from line ${spaced} on it differs only in white space: ${quote(lines, spaced)}`;
  }
  const plain = findLines(lines, wantedLines, plainCharacters);
  if (plain > 0) {
    return `; from line ${plain} on it differs only in quotation marks, dashes or spaces: ${
      quote(lines, plain)
    }`;
  }
  const replacement = toLf(newString);
  if (replacement.trim() !== "" && text.includes(replacement)) {
    return "; new_string is in the file already, the edit may have been made before";
  }
  const near = mostSimilar(lines, wantedLines);
  return near > 0 ? `; the most similar line is ${near}: ${quote(lines, near)}` : "";
}

function quote(lines: readonly string[], number: number): string {
  const line = lines[number - 1] ?? "";
  // White space is what matters here, so it is kept and made visible by the quotes.
  return line.length <= SHOWN ? JSON.stringify(line) : JSON.stringify(oneLine(line, SHOWN));
}

/** Returns the line from which all of `wanted` follow each other after `normalise`, or 0. */
function findLines(
  lines: readonly string[],
  wanted: readonly string[],
  normalise: (line: string) => string,
): number {
  const needle = wanted.map(normalise);
  if (needle.join("") === "") return 0;
  const hay = lines.map(normalise);
  for (let start = 0; start + needle.length <= hay.length; start++) {
    if (needle.every((line, index) => hay[start + index] === line)) return start + 1;
  }
  return 0;
}

function plainCharacters(line: string): string {
  return line
    .normalize("NFKC")
    .replace(/[\u2018\u2019\u201a\u201b]/gu, "'")
    .replace(/[\u201c\u201d\u201e\u201f\u00ab\u00bb]/gu, '"')
    .replace(/[\u2010-\u2015\u2212]/gu, "-")
    .replace(/[\u00a0\u2000-\u200a\u202f\u3000]/gu, " ")
    .trim();
}

/** Returns the line nearest to the first line looked for that says something, or 0. */
function mostSimilar(lines: readonly string[], wanted: readonly string[]): number {
  const needle = (wanted.find((line) => line.trim().length > 3) ?? "").trim();
  if (needle === "" || needle.length > MAX_LENGTH) return 0;
  let best = 0;
  let bestDistance = Math.floor(needle.length * MAX_DIFFERENT) + 1;
  for (const [index, raw] of lines.entries()) {
    const line = raw.trim();
    if (Math.abs(line.length - needle.length) >= bestDistance) continue;
    const found = distance(line, needle);
    if (found < bestDistance) {
      best = index + 1;
      bestDistance = found;
    }
  }
  return best;
}
