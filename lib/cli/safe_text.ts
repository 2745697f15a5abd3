/**
 * Text of models and tools made harmless for a terminal: no escape sequence reaches it, so that
 * nothing can move the cursor, change the title, fill the clipboard or hide a part of a command.
 *
 * @module
 */

/** Sequences that only colour or move (CSI), and the usual closed OSC strings: titles, links. */
const SEQUENCE = new RegExp(
  [
    String.raw`(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]`,
    String.raw`(?:\x1b\]|\x9d)[^\x07\x1b\x9c\n]{0,2048}(?:\x07|\x1b\\|\x9c)`,
    String.raw`\x1b[ -/][0-~]`,
  ].join("|"),
  "gu",
);

/** All other control characters, tab and newline excepted. */
// deno-lint-ignore no-control-regex
const CONTROL = /[\0-\x08\x0b-\x1f\x7f-\x9f]/gu;

/** The beginning of a sequence that the next piece may complete; bounded, to hide nothing for long. */
const UNFINISHED = new RegExp(
  [
    String.raw`(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}`,
    String.raw`(?:\x1b\]|\x9d)[^\x07\x1b\x9c\n]{0,256}\x1b?`,
    String.raw`\x1b[ -/]?`,
    String.raw`\r`,
  ].map((beginning) => `${beginning}$`).join("|"),
  "u",
);

/** Marks that change the direction of the text around them. */
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Returns `text` without escape sequences and control characters. Newlines and tabs stay; a
 * carriage return becomes a newline, since it would let a line be written over.
 */
export function safeText(text: string): string {
  return text.replace(SEQUENCE, "").replace(/\r\n?/gu, "\n").replace(CONTROL, "");
}

/**
 * Returns `text` with every control character and direction mark written out (`\x1b`, `\u{202e}`),
 * for a question in which nothing may be hidden. Newlines and tabs stay.
 */
export function visibleText(text: string): string {
  return text.replace(/\r\n/gu, "\n")
    .replace(CONTROL, (found) => `\\x${hex(found).padStart(2, "0")}`)
    .replace(DIRECTION, (found) => `\\u{${hex(found)}}`);
}

/** A filter for text that comes in pieces: a sequence cut in two is still taken out whole. */
export interface SafeStream {
  /** Returns what can be shown now. */
  push(text: string): string;
  /** Returns what was held back. */
  flush(): string;
}

/** Creates a filter that does what {@linkcode safeText} does, for text in pieces. */
export function safeStream(): SafeStream {
  let held = "";
  return {
    push(text) {
      const whole = held + text;
      const cut = UNFINISHED.exec(whole)?.index ?? whole.length;
      held = whole.slice(cut);
      return safeText(whole.slice(0, cut));
    },
    flush() {
      const rest = held;
      held = "";
      return safeText(rest);
    },
  };
}

function hex(character: string): string {
  return character.codePointAt(0)?.toString(16) ?? "";
}
