/**
 * One failed attempt to get an answer, with the facts that decide what happens next.
 *
 * @module
 */
import { messageOf } from "../base/errors.ts";
import type { AnswerEnd } from "./read_answer.ts";
import { retryAfter } from "./retry_after.ts";
import { type ServerWords, wordsOfBody } from "./server_words.ts";
import type { AssistantMessage } from "./types.ts";

/** What failed. */
export type FailureCondition =
  /** Nobody listens at the address. */
  | "refused"
  /** The host's name is not known. */
  | "unknown_host"
  /** The server's certificate is not accepted. */
  | "certificate"
  /** The connection failed in another way before an answer began. */
  | "connection"
  /** The server answered with an error status. */
  | "status"
  /** The server reported an error inside its answer. */
  | "error_inside"
  /** The answer ended, or its connection broke, before it was whole. */
  | "ended_early"
  /** Nothing came, or nothing that can be read; another attempt may do better. */
  | "garbled"
  /** What came is of another kind: the wrong address. */
  | "not_an_answer"
  /** The model met the end of its window before its first word. */
  | "no_room";

/** A failed attempt. */
export interface Failure {
  readonly condition: FailureCondition;
  readonly words: ServerWords;
  readonly status?: number;
  /** How long the server asked to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  /** What had been received. */
  readonly partial?: AssistantMessage;
  readonly cause?: unknown;
}

/** Carries a failure through code that throws. */
export class FailureError extends Error {
  readonly failure: Failure;

  /** Wraps a failure. */
  constructor(failure: Failure) {
    super(failure.words.text, failure.cause === undefined ? undefined : { cause: failure.cause });
    this.name = "FailureError";
    this.failure = failure;
  }
}

/** Returns the failure for an answer with an error status. */
export function statusFailure(status: number, headers: Headers, body: string): Failure {
  const location = headers.get("location");
  const redirected = status >= 300 && status < 400 && location !== null;
  const words = redirected
    ? { text: `it redirects to "${location}"; set "baseUrl" to that server` }
    : wordsOfBody(body);
  const retryAfterMs = retryAfter(headers);
  return {
    condition: "status",
    status,
    words,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/** Codes and words of the runtimes' network errors. */
const CONNECTION_WORDS: readonly {
  readonly condition: FailureCondition;
  readonly form: RegExp;
  readonly text: string;
}[] = [
  {
    condition: "refused",
    form: /ECONNREFUSED|ConnectionRefused|connection refused|actively refused/iu,
    text: "connection refused",
  },
  {
    condition: "unknown_host",
    form: /ENOTFOUND|EAI_AGAIN|dns error|failed to lookup|name not resolved|getaddrinfo/iu,
    text: "the host's name is not known",
  },
  {
    condition: "certificate",
    form: /certificate|CERT_|self.signed|UnknownIssuer|UNABLE_TO_VERIFY|ERR_TLS|SSL routines/iu,
    text: "its certificate is not accepted",
  },
  {
    condition: "connection",
    form: /ETIMEDOUT|UND_ERR_\w*TIMEOUT|timed? ?out/iu,
    text: "the connection timed out",
  },
  {
    condition: "connection",
    form:
      /ECONNRESET|connection reset|closed before|socket hang up|other side closed|UND_ERR_SOCKET/iu,
    text: "the connection was closed",
  },
];

/** Returns the failure for anything fetch() threw. */
export function connectionFailure(cause: unknown): Failure {
  const all = wordsOfChain(cause);
  for (const { condition, form, text } of CONNECTION_WORDS) {
    if (form.test(all)) return { condition, words: { text }, cause };
  }
  return { condition: "connection", words: { text: messageOf(cause) }, cause };
}

/** Node and Bun say what happened in the cause's code, Deno in the message. */
function wordsOfChain(thrown: unknown): string {
  const words: string[] = [];
  let current: unknown = thrown;
  for (let depth = 0; depth < 5 && current !== undefined && current !== null; depth++) {
    const error = current as { code?: unknown; cause?: unknown; errors?: unknown };
    words.push(messageOf(current), String(error.code ?? ""));
    if (Array.isArray(error.errors)) words.push(...error.errors.map((e) => wordsOfChain(e)));
    current = error.cause;
  }
  return words.join(" ");
}

/** Returns the failure for the end of an answer that is not whole. */
export function answerFailure(end: Exclude<AnswerEnd, { type: "complete" }>): Failure {
  switch (end.type) {
    case "early":
      return {
        condition: "ended_early",
        words: { text: "the stream ended early" },
        partial: end.partial,
      };
    case "broken": {
      const { words } = connectionFailure(end.cause);
      return {
        condition: "ended_early",
        words: { text: `the stream ended early: ${words.text}` },
        partial: end.partial,
        cause: end.cause,
      };
    }
    case "error":
      return {
        condition: "error_inside",
        words: end.words,
        ...(end.words.status === undefined ? {} : { status: end.words.status }),
        partial: end.partial,
      };
    case "no_answer":
      return {
        condition: end.transient ? "garbled" : "not_an_answer",
        words: { text: end.what },
      };
    case "no_room":
      return {
        condition: "no_room",
        words: {
          text:
            "the model stopped at its limit before the first word: the request fills its window",
        },
      };
  }
}
