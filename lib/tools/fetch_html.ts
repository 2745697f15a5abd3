/**
 * HTML as Markdown, for the first so many characters of a page.
 *
 * The converter takes a time that grows with the square of what it is given, and some pages are
 * larger than any result; so a page is converted piece by piece until there is enough. Importing this
 * file loads the converter, so it is imported by the first page.
 *
 * @module
 */
import { setImmediate } from "node:timers";
import { NodeHtmlMarkdown } from "node-html-markdown";

/** UTF-16 units of HTML converted at once. */
const PIECE = 48 * 1024;

/** A piece ends behind one of these, where there is one in its second half. */
const BLOCK_END =
  /<\/(?:p|div|section|article|main|table|ul|ol|dl|pre|blockquote|h[1-6]|li|tr)\s*>/giu;

/** What is on a page for machines and not for readers; with all that stands inside. */
const NOT_FOR_READERS = /<(script|style|noscript|template|svg|iframe|head|title|nav)\b|<!--/giu;

/** Elements inside each other that are converted; beyond that the converter takes minutes. */
const MAX_DEPTH = 60;

const TAG = /<(\/?)([a-z][a-z0-9-]*)/giu;

/** Elements that hold nothing, and those that a parser closes by itself. */
const NO_DEPTH =
  /^(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr|p|li|option)$/iu;

/** A page as Markdown. */
export interface Markdown {
  readonly text: string;
  /** Whether the page has more. */
  readonly more: boolean;
}

/** Options of {@linkcode htmlToMarkdown}. */
export interface HtmlToMarkdownOptions {
  /** UTF-16 units of Markdown that are enough. */
  readonly enough: number;
  readonly signal: AbortSignal;
}

/**
 * Converts a page.
 *
 * @throws the signal's reason.
 */
export async function htmlToMarkdown(
  html: string,
  options: HtmlToMarkdownOptions,
): Promise<Markdown> {
  const converter = new NodeHtmlMarkdown({ keepDataImages: false, maxConsecutiveNewlines: 2 });
  const readable = forReaders(html);
  const title = converter.translate(titleOf(html)).trim();
  const parts: string[] = title === "" || /<h1\b/iu.test(readable) ? [] : [`# ${title}`];
  let length = 0;
  let at = 0;
  while (at < readable.length && length <= options.enough) {
    options.signal.throwIfAborted();
    const end = pieceEnd(readable, at);
    const part = convert(readable.slice(at, end), (piece) => converter.translate(piece));
    at = end;
    if (part === "") continue;
    parts.push(part);
    length += part.length;
    // Lets a cancel through.
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  return { text: parts.join("\n\n"), more: at < readable.length };
}

/** What is nested too deep, which is what missing end tags come to, is shown without its tags. */
function convert(html: string, translate: (html: string) => string): string {
  if (depthOf(html) <= MAX_DEPTH) {
    try {
      return translate(html).trim();
    } catch {
      // The converter has met something it does not expect.
    }
  }
  return html.replace(/<[^<>]*>/gu, " ").replace(/[ \t]+/gu, " ").trim();
}

function depthOf(html: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [, slash, name = ""] of html.matchAll(TAG)) {
    if (NO_DEPTH.test(name)) continue;
    depth = slash === "" ? depth + 1 : Math.max(0, depth - 1);
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

function pieceEnd(html: string, at: number): number {
  if (html.length - at <= PIECE) return html.length;
  const half = at + PIECE / 2;
  const second = html.slice(half, at + PIECE);
  const tagEnd = second.lastIndexOf(">");
  let end = tagEnd < 0 ? at + PIECE : half + tagEnd + 1;
  for (const match of second.matchAll(BLOCK_END)) end = half + match.index + match[0].length;
  return end;
}

/** Takes out what is not for readers. One pass, whatever the page holds. */
function forReaders(html: string): string {
  const lower = html.toLowerCase();
  const kept: string[] = [];
  let at = 0;
  NOT_FOR_READERS.lastIndex = 0;
  for (;;) {
    const found = NOT_FOR_READERS.exec(html);
    if (found === null) break;
    kept.push(html.slice(at, found.index));
    const close = found[1] === undefined ? "-->" : `</${found[1].toLowerCase()}`;
    const end = lower.indexOf(close, found.index + found[0].length);
    // What is not closed goes to the end of the page, as in a browser.
    if (end < 0) return kept.join("");
    const after = found[1] === undefined ? end + close.length : html.indexOf(">", end) + 1;
    if (after <= end) return kept.join("");
    at = after;
    NOT_FOR_READERS.lastIndex = at;
  }
  kept.push(html.slice(at));
  return kept.join("");
}

function titleOf(html: string): string {
  const found = /<title[^>]{0,200}>([^<]{0,300})/iu.exec(html.slice(0, 4 * PIECE))?.[1] ?? "";
  return found.replace(/\s+/gu, " ").trim();
}
