/**
 * Texts with a `*` for any characters, compared in time that grows with the length of the text only: a
 * model may write a command of any length, and a comparison that takes minutes would stop mm.
 *
 * @module
 */

/** Says whether `text` is `pattern`, in which each `*` stands for any characters, line ends included. */
export function wildcardMatches(pattern: string, text: string): boolean {
  const [first = "", ...rest] = pattern.split(/\*+/u);
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (text.length < first.length + last.length) return false;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let from = first.length;
  // The first place of each part is as good as any later one: a star in front takes what is between.
  for (const part of rest) {
    const at = text.indexOf(part, from);
    if (at < 0 || at + part.length > end) return false;
    from = at + part.length;
  }
  return true;
}
