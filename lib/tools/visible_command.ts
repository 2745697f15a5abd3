/**
 * A command as it is shown to the person who decides about it.
 *
 * @module
 */

/**
 * Characters that could make a line look different from what will run: line ends, escape
 * sequences, marks that reverse the direction of text, characters without a width.
 */
const INVISIBLE =
  // deno-lint-ignore no-control-regex -- they are what is looked for
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu;

/** Returns the whole command on one line, with everything invisible made visible. */
export function visibleCommand(command: string): string {
  return command.trim().toWellFormed().replaceAll("\r\n", "\n").replace(INVISIBLE, (character) => {
    if (character === "\n") return " \u23ce ";
    if (character === "\t") return "  ";
    return `\\u{${character.charCodeAt(0).toString(16)}}`;
  });
}
