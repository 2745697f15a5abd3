/**
 * Reads TypeScript just far enough to tell code from strings and comments.
 *
 * @module
 */

/** A source whose comments and strings are blanked. */
export interface MaskedSource {
  /** The same length and lines as the source; comments and the insides of strings are spaces. */
  readonly code: string;
  /** The quoted strings, keyed by the offset of their opening quote. */
  readonly strings: ReadonlyMap<number, string>;
}

/** After one of these a slash begins a regular expression, not a division. */
const BEFORE_REGEXP = new Set([..."(,=:[!&|?{};+-*%<>~^"]);
const WORD_BEFORE_REGEXP = /\b(?:return|typeof|case|in|of|do|else|void|delete|await|yield)$/u;

/**
 * Blanks comments, strings, template text and regular expressions in a source; code inside `${}`
 * stays.
 */
export function maskSource(source: string): MaskedSource {
  const out = [...source.split("")];
  const strings = new Map<number, string>();
  /** Depth of braces at which a template goes on. */
  const templates: number[] = [];
  let depth = 0;
  let at = 0;

  const blank = (from: number, to: number) => {
    for (let i = from; i < to; i++) if (out[i] !== "\n") out[i] = " ";
  };
  const endOfQuoted = (from: number, quote: string) => {
    let i = from + 1;
    while (i < source.length && source[i] !== quote && source[i] !== "\n") {
      i += source[i] === "\\" ? 2 : 1;
    }
    return i;
  };
  /** Blanks template text from `from` and returns where code goes on. */
  const templateText = (from: number) => {
    let i = from;
    while (i < source.length) {
      if (source[i] === "\\") i += 2;
      else if (source[i] === "`") {
        blank(from, i);
        return i + 1;
      } else if (source[i] === "$" && source[i + 1] === "{") {
        blank(from, i);
        templates.push(depth++);
        return i + 2;
      } else i++;
    }
    blank(from, source.length);
    return source.length;
  };

  while (at < source.length) {
    const char = source.charAt(at);
    const pair = source.slice(at, at + 2);
    if (pair === "//") {
      const end = endOr(source.indexOf("\n", at), source.length);
      blank(at, end);
      at = end;
    } else if (pair === "/*") {
      const close = source.indexOf("*/", at + 2);
      const end = close < 0 ? source.length : close + 2;
      blank(at, end);
      at = end;
    } else if (char === '"' || char === "'") {
      const end = endOfQuoted(at, char);
      strings.set(at, source.slice(at + 1, end));
      blank(at + 1, end);
      at = end + 1;
    } else if (char === "`") {
      at = templateText(at + 1);
    } else if (char === "/" && beginsRegExp(out, at)) {
      const end = endOfRegExp(source, at);
      blank(at + 1, end);
      at = end + 1;
    } else if (char === "{") {
      depth++;
      at++;
    } else if (char === "}") {
      depth--;
      at++;
      if (templates.length > 0 && templates.at(-1) === depth) {
        templates.pop();
        at = templateText(at);
      }
    } else {
      at++;
    }
  }
  return { code: out.join(""), strings };
}

function endOr(index: number, otherwise: number): number {
  return index < 0 ? otherwise : index;
}

function beginsRegExp(masked: readonly string[], at: number): boolean {
  const before = masked.slice(Math.max(0, at - 40), at).join("").trimEnd();
  return before === "" || BEFORE_REGEXP.has(before.charAt(before.length - 1)) ||
    WORD_BEFORE_REGEXP.test(before);
}

function endOfRegExp(source: string, at: number): number {
  let inClass = false;
  let i = at + 1;
  for (; i < source.length && source[i] !== "\n"; i++) {
    if (source[i] === "\\") i++;
    else if (source[i] === "[") inClass = true;
    else if (source[i] === "]") inClass = false;
    else if (source[i] === "/" && !inClass) break;
  }
  return i;
}
