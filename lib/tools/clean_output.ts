/**
 * A command's output as a model can read it.
 *
 * @module
 */

// deno-lint-ignore no-control-regex -- escape sequences of terminals are what is looked for
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\^_])/gu;

// deno-lint-ignore no-control-regex -- likewise
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/gu;

/**
 * Takes out colours and other escape sequences, turns `\r\n` and the bare `\r` of progress bars
 * into line ends and other control characters into U+FFFD. The result is well-formed.
 */
export function cleanOutput(text: string): string {
  return text
    .replace(ESCAPES, "")
    .replace(/\r+\n/gu, "\n")
    .replaceAll("\r", "\n")
    .replace(CONTROLS, "\ufffd")
    .toWellFormed();
}
