/**
 * The text of a body: HTML as Markdown, other text as it is, anything else by its type.
 *
 * @module
 */
import type { FetchedBody } from "./fetch_body.ts";
import type { HtmlToMarkdownOptions } from "./fetch_html.ts";
import { sniff, SNIFF_BYTES } from "./sniff.ts";

/** A body as text, or what it is instead. */
export type FetchedText =
  | {
    readonly text: string;
    /** What was made of it, where it is not shown as it is. */
    readonly form?: string;
    /** Whether there is more than `text`, which was not converted. */
    readonly more?: boolean;
  }
  | { readonly binary: string };

const HTML = new Set(["text/html", "application/xhtml+xml"]);

/** Types that are text though they are not called so. */
const TEXT =
  /^(?:text\/.*|application\/(?:json|xml|javascript|ecmascript|x-javascript|typescript|yaml|x-yaml|toml|sql|graphql|x-sh|x-ndjson|jsonl?|x-www-form-urlencoded)|image\/svg\+xml|.*\+(?:json|xml|yaml))$/u;

/** Types by which a server says that it does not know. */
const UNKNOWN = new Set(["", "application/octet-stream", "binary/octet-stream"]);

/** Characters of a page in which it tells its own character set. */
const META_ROOM = 2048;

/**
 * Returns the text of a body.
 *
 * @throws the signal's reason.
 */
export async function fetchText(
  body: FetchedBody,
  options: HtmlToMarkdownOptions,
): Promise<FetchedText> {
  const { bytes, type } = body;
  if (!HTML.has(type) && !TEXT.test(type) && !UNKNOWN.has(type)) return { binary: type };
  const looks = sniff(bytes.subarray(0, SNIFF_BYTES));
  if (looks.kind === "binary" && (UNKNOWN.has(type) || bytes.includes(0))) {
    return { binary: looks.type };
  }
  const text = decode(body, looks.kind === "text" ? looks.encoding : "utf-8");
  if (!HTML.has(type) && !(UNKNOWN.has(type) && looksLikeHtml(text))) return { text };
  const { htmlToMarkdown } = await import("./fetch_html.ts");
  return { ...await htmlToMarkdown(text, options), form: "as Markdown" };
}

function decode({ bytes, charset, type }: FetchedBody, fallback: string): string {
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, META_ROOM));
  const told = charset || (HTML.has(type) ? metaCharset(head) : "") || fallback;
  try {
    return new TextDecoder(told).decode(bytes);
  } catch {
    // A character set that nobody knows.
    return new TextDecoder(fallback).decode(bytes);
  }
}

function metaCharset(head: string): string {
  return /<meta[^>]+charset\s*=\s*["']?([^"'\s/>;]+)/iu.exec(head)?.[1] ?? "";
}

function looksLikeHtml(text: string): boolean {
  return /^\s*(?:<!--[\s\S]*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b/iu.test(
    text.slice(0, META_ROOM),
  );
}
