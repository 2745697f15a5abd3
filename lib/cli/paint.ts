/**
 * Colours of a terminal, used only where they are allowed.
 *
 * @module
 */

/** Ways to set text off. Each returns the text unchanged where colours are not allowed. */
export interface Paint {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly cyan: (text: string) => string;
}

/** Returns colours, or none. */
export function createPaint(allowed: boolean): Paint {
  const style = (on: number, off: number) => (text: string) =>
    allowed && text !== "" ? `\x1b[${on}m${text}\x1b[${off}m` : text;
  return {
    bold: style(1, 22),
    dim: style(2, 22),
    red: style(31, 39),
    green: style(32, 39),
    yellow: style(33, 39),
    cyan: style(36, 39),
  };
}
