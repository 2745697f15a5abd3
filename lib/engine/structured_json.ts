/**
 * Finding the JSON in an answer: models put it into a fence or between sentences, whatever they
 * were told.
 *
 * @module
 */
import { messageOf } from "../base/errors.ts";

/** A JSON value in a text. */
export interface FoundJson {
  /** As it stands in the text: numbers keep their digits. */
  readonly text: string;
  readonly value: unknown;
}

/** Beginnings of a value that are tried; a text full of brackets must not take long. */
const MAX_STARTS = 200;

const FENCE = /(?:```|~~~)[^\n`~]*\n([\s\S]*?)\n?[ \t]*(?:```|~~~)/gu;

/**
 * Returns the JSON values of an answer, the whole answer if it is one. Each value is whole: no part
 * of a value that was found is found again, and nothing is completed or corrected.
 */
export function findJson(answer: string): FoundJson[] {
  const whole = parse(answer);
  if (whole !== undefined) return [whole];
  const found = new Map<string, FoundJson>();
  const add = (text: string) => {
    const json = parse(text);
    if (json !== undefined) found.set(json.text, json);
    return json !== undefined;
  };
  for (const [, inside = ""] of answer.matchAll(FENCE)) add(inside);
  let starts = 0;
  for (let at = 0; at < answer.length && starts < MAX_STARTS; at++) {
    if (answer[at] !== "{" && answer[at] !== "[") continue;
    starts++;
    const end = endOfValue(answer, at);
    if (end !== undefined && add(answer.slice(at, end))) at = end - 1;
  }
  return [...found.values()];
}

/** Returns why a text as a whole is no JSON, as a clause. */
export function notJson(answer: string): string {
  try {
    JSON.parse(answer.trim());
    return "it is JSON";
  } catch (thrown) {
    return messageOf(thrown);
  }
}

function parse(text: string): FoundJson | undefined {
  const trimmed = text.replace(/^\ufeff/u, "").trim();
  try {
    return { text: trimmed, value: JSON.parse(trimmed) };
  } catch {
    return undefined;
  }
}

/** Returns where the brackets that open at `start` are closed, strings left aside. */
function endOfValue(text: string, start: number): number | undefined {
  let depth = 0;
  let inString = false;
  for (let at = start; at < text.length; at++) {
    const unit = text[at];
    if (inString) {
      if (unit === "\\") at++;
      else if (unit === '"') inString = false;
    } else if (unit === '"') inString = true;
    else if (unit === "{" || unit === "[") depth++;
    else if (unit === "}" || unit === "]") {
      depth--;
      if (depth === 0) return at + 1;
    }
  }
  return undefined;
}
