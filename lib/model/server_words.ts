/**
 * A server's own words about an error, whatever shape it gives them.
 *
 * @module
 */
import { oneLine } from "../base/cut.ts";
import { asArray, asObject, asText, parseJson } from "./json.ts";

/** What a server said about an error. */
export interface ServerWords {
  /** One line, cut to a readable length. */
  readonly text: string;
  /** The status inside the answer, where the server gives one. */
  readonly status?: number;
  /** The server's code or type: `insufficient_quota`, `overloaded_error`. */
  readonly code?: string;
}

/** Characters of a server's words that are shown. */
const MAX_WORDS = 500;

/** Characters of a body that is no error message, as the field expects them. */
const MAX_QUOTE = 200;

/**
 * Finds the message in an error: an object, a text, `{error: ...}`, `{message: ...}`,
 * `{detail: ...}`, a list of these. Never throws.
 */
export function wordsOf(value: unknown): ServerWords {
  if (typeof value === "string") return { text: oneLine(value, MAX_WORDS) };
  const object = asObject(value);
  if (object === undefined) {
    const first = asArray(value)[0];
    if (first !== undefined && value !== undefined) return wordsOf(first);
    return { text: "no reason was given" };
  }
  const inner = object["error"];
  if (asObject(inner) !== undefined || Array.isArray(inner)) return wordsOf(inner);
  const text = asText(inner) ?? asText(object["message"]) ?? detailOf(object["detail"]) ??
    asText(object["title"]) ?? asText(object["msg"]) ?? JSON.stringify(value);
  const numeric = Number(object["code"] ?? object["status"] ?? object["status_code"]);
  const code = asText(object["code"]) ?? asText(object["type"]);
  return {
    text: oneLine(withCause(text, object["metadata"]), MAX_WORDS),
    ...(numeric >= 400 && numeric < 600 ? { status: numeric } : {}),
    ...(code === undefined ? {} : { code }),
  };
}

/** Reads the body of an error answer: JSON in any shape, plain text, a page of HTML, nothing. */
export function wordsOfBody(body: string): ServerWords {
  const trimmed = body.trim();
  if (trimmed === "") return { text: "no reason was given" };
  const json = parseJson(trimmed);
  if (json !== undefined) return wordsOf(json);
  if (looksLikeHtml(trimmed)) {
    const title = /<title[^>]*>([^<]*)<\/title>/iu.exec(trimmed)?.[1];
    return { text: title === undefined ? quote(trimmed) : oneLine(title, MAX_QUOTE) };
  }
  return { text: oneLine(trimmed, MAX_WORDS) };
}

/** Returns the beginning of something unexpected, in quotes and on one line. */
export function quote(text: string): string {
  return `"${oneLine(text, MAX_QUOTE)}"`;
}

/** Whether a body begins like a page of HTML or XML. */
export function looksLikeHtml(text: string): boolean {
  return /^\s*<(!doctype|html|head|body|\?xml|title|!--)/iu.test(text);
}

/** FastAPI (vLLM, and many small servers): a text, or a list of what is wrong with the request. */
function detailOf(detail: unknown): string | undefined {
  if (typeof detail === "string") return asText(detail);
  const first = asObject(asArray(detail)[0]);
  const message = asText(first?.["msg"]);
  if (message === undefined) return asText(asObject(detail)?.["message"]);
  const place = asArray(first?.["loc"]).map(String).join(".");
  return place === "" ? message : `${place}: ${message}`;
}

/** OpenRouter wraps the words of the provider behind it. */
function withCause(text: string, metadata: unknown): string {
  const raw = asObject(metadata)?.["raw"];
  if (raw === undefined) return text;
  const inner = typeof raw === "string" ? wordsOfBody(raw).text : wordsOf(raw).text;
  return inner === text ? text : `${text}: ${inner}`;
}

const OVERFLOW = [
  /context[_ -]?(length|window|size)[_ -]?(is )?exceed/iu,
  /exceed(s|ed)?[^.]{0,40} (context|maximum (prompt|input|token))/iu,
  /maximum context length/iu,
  /(prompt|input|request|conversation|messages?) (is|are|was)? ?too (long|large)\b(?!.*\bfile)/iu,
  /too many (input )?tokens/iu,
  /(prompt|input)[^.]{0,60}(larger|longer|greater) than[^.]{0,40}(context|maximum|limit)/iu,
  /token(s| count)?[^.]{0,60}exceeds?[^.]{0,40}(limit|maximum|allowed|number of tokens)/iu,
  /context( the)? overflows?|context overflow/iu,
  /reduce the length of (the|your) (messages|prompt|input)/iu,
  /exceed_context_size|context_length_exceeded|string_above_max_length|model_max_prompt_tokens/iu,
];

/** Whether words mean that the request does not fit the model's window. */
export function meansContextExceeded(words: ServerWords): boolean {
  if (
    words.code !== undefined && /context_(length|size|window)|exceed_context/iu.test(words.code)
  ) {
    return true;
  }
  // A limit per minute also speaks of tokens; that passes.
  if (/per (min|minute|day|hour)|rate.?limit|\bTP[MD]\b/iu.test(words.text)) return false;
  return OVERFLOW.some((form) => form.test(words.text));
}
