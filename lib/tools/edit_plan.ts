/**
 * The change an `edit` makes to a text, without touching any file.
 *
 * @module
 */
import { LfView, toEol, toLf } from "./line_endings.ts";

/** A replacement of text. */
export interface Replacement {
  readonly oldString: string;
  readonly newString: string;
  /** Whether every place is replaced; otherwise there has to be exactly one. */
  readonly replaceAll: boolean;
}

/** Lines of the new text, counted from 1. */
export interface LineRange {
  readonly first: number;
  readonly last: number;
}

/** What an edit comes to. */
export type EditPlan =
  | { readonly kind: "change"; readonly text: string; readonly places: readonly LineRange[] }
  /** The text looked for is empty. */
  | { readonly kind: "empty" }
  /** Nothing would change. */
  | { readonly kind: "same" }
  /** The text looked for does not occur. */
  | { readonly kind: "none" }
  /** It occurs more than once, on these lines. */
  | { readonly kind: "many"; readonly lines: readonly number[] };

/**
 * Works out an edit. Line endings are compared as if they were all the same, because the model saw
 * none; those of untouched lines stay, new lines get the ending of the lines they replace.
 */
export function planEdit(content: string, replacement: Replacement): EditPlan {
  const oldString = toLf(replacement.oldString);
  const newString = toLf(replacement.newString).toWellFormed();
  if (oldString === "") return { kind: "empty" };
  if (oldString === newString) return { kind: "same" };
  const view = new LfView(content);
  const found = findAll(view.text, oldString, replacement.replaceAll);
  if (found.length === 0) return { kind: "none" };
  if (found.length > 1 && !replacement.replaceAll) {
    return { kind: "many", lines: found.map(lineCounter(view.text)) };
  }
  return change(view, found, oldString, newString);
}

/** Every place for a single edit (overlapping ones are ambiguous too), disjoint ones for all. */
function findAll(text: string, wanted: string, disjoint: boolean): number[] {
  const found: number[] = [];
  const step = disjoint ? wanted.length : 1;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + step)) {
    found.push(at);
  }
  return found;
}

function change(
  view: LfView,
  found: readonly number[],
  oldString: string,
  newString: string,
): EditPlan {
  // What old and new have in common at both ends is context and is not touched.
  const head = commonHead(oldString, newString);
  const tail = commonTail(oldString, newString, head);
  const inserted = newString.slice(head, newString.length - tail);
  const removed = oldString.length - head - tail;
  const pieces: string[] = [];
  const places: LineRange[] = [];
  const lineAt = lineCounter(view.text);
  const addedLines = linesIn(newString) - linesIn(oldString);
  let done = 0;
  for (const [index, at] of found.entries()) {
    const from = at + head;
    const to = from + removed;
    const eol = view.eolAt(from, to);
    pieces.push(view.original(done, from), eol === undefined ? inserted : toEol(inserted, eol));
    done = to;
    const first = lineAt(at) + index * addedLines;
    places.push({ first, last: first + linesIn(newString) - (newString.endsWith("\n") ? 1 : 0) });
  }
  pieces.push(view.original(done, view.text.length));
  return { kind: "change", text: pieces.join(""), places };
}

function commonHead(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && a.charCodeAt(length) === b.charCodeAt(length)) length++;
  return length;
}

function commonTail(a: string, b: string, head: number): number {
  const most = Math.min(a.length, b.length) - head;
  let length = 0;
  while (
    length < most && a.charCodeAt(a.length - 1 - length) === b.charCodeAt(b.length - 1 - length)
  ) {
    length++;
  }
  return length;
}

function linesIn(text: string): number {
  let lines = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}

/** Returns a function that gives the line of an offset; offsets have to come in ascending order. */
function lineCounter(text: string): (offset: number) => number {
  let line = 1;
  let counted = 0;
  return (offset) => {
    for (let at = text.indexOf("\n", counted); at >= 0 && at < offset;) {
      line++;
      counted = at + 1;
      at = text.indexOf("\n", counted);
    }
    return line;
  };
}
