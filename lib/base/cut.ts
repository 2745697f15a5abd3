/**
 * Cutting text to a limit, with the facts: what was left out and how much there was.
 *
 * @module
 */

/** A text cut to a limit. */
export interface Cut {
  /** The text, with a line in the middle that says what was left out when it was cut. */
  readonly text: string;
  /** Whether anything was left out. */
  readonly cut: boolean;
  /** UTF-16 units the whole text had. */
  readonly total: number;
  /** UTF-16 units left out. */
  readonly omitted: number;
}

/** Share of the limit that goes to the beginning; errors tend to stand at the end of an output. */
const HEAD_SHARE = 0.5;

/**
 * Cuts `text` to at most `limit` UTF-16 units (the notice included), keeping its beginning and its
 * end and never half a surrogate pair. Lone surrogates are replaced, so that the result is always
 * valid in JSON.
 */
export function cutMiddle(text: string, limit: number): Cut {
  const whole = text.toWellFormed();
  if (whole.length <= limit) return { text: whole, cut: false, total: whole.length, omitted: 0 };
  // The notice has to fit; its length is bounded by the longest number it can hold.
  const notice = (omitted: number) =>
    `\n[... ${omitted} of ${whole.length} characters left out ...]\n`;
  const room = Math.max(0, limit - notice(whole.length).length);
  const head = headOf(whole, Math.ceil(room * HEAD_SHARE));
  const tail = tailOf(whole, room - head.length);
  const omitted = whole.length - head.length - tail.length;
  return { text: head + notice(omitted) + tail, cut: true, total: whole.length, omitted };
}

/** Returns the first `units` UTF-16 units of `text`, one less where a pair would be split. */
export function headOf(text: string, units: number): string {
  if (text.length <= units) return text;
  const end = isHighSurrogate(text.charCodeAt(units - 1)) ? units - 1 : units;
  return text.slice(0, Math.max(0, end));
}

/** Returns the last `units` UTF-16 units of `text`, one less where a pair would be split. */
export function tailOf(text: string, units: number): string {
  if (text.length <= units) return text;
  if (units <= 0) return "";
  const start = text.length - units;
  return text.slice(isLowSurrogate(text.charCodeAt(start)) ? start + 1 : start);
}

/** Returns the first line of `text`, cut to `units` with an ellipsis where it is longer. */
export function oneLine(text: string, units: number): string {
  const flat = text.toWellFormed().replace(/\s+/gu, " ").trim();
  return flat.length <= units ? flat : headOf(flat, units - 1) + "…";
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
