/**
 * Why a request to an MCP server got no answer, in words that follow the server's name.
 *
 * @module
 */
import { oneLine } from "../base/cut.ts";
import { formatDuration } from "../base/duration.ts";
import { messageOf } from "../base/errors.ts";

/** A request without an answer. */
export class CallFailure extends Error {
  /** Whether the connection is of no use any more. */
  readonly lost: boolean;
  /** Whether the server cannot have begun to work on the request, so that it may be sent again. */
  readonly unseen: boolean;

  /** Creates the failure from words that follow the server's name. */
  constructor(words: string, options: ErrorOptions & { lost: boolean; unseen: boolean }) {
    super(words, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "CallFailure";
    this.lost = options.lost;
    this.unseen = options.unseen;
  }

  /** The words. */
  get words(): string {
    return this.message;
  }
}

/** Codes of JSON-RPC errors that the SDK itself makes. */
const CONNECTION_CLOSED = -32000;
const REQUEST_TIMEOUT = -32001;

/** UTF-16 units of a server's own words. */
const MAX_WORDS = 1000;

/**
 * Returns the failure for what the SDK threw.
 *
 * @param timeoutMs how long was waited, in milliseconds.
 * @param lost whether the connection is known to be lost.
 */
export function failureWords(thrown: unknown, timeoutMs: number, lost = false): CallFailure {
  if (thrown instanceof CallFailure) return thrown;
  const words = oneLine(messageOf(thrown), MAX_WORDS);
  const options = { cause: thrown, lost, unseen: false };
  const code = (thrown as { readonly code?: unknown } | undefined)?.code;
  const name = thrown instanceof Error ? thrown.name : "";
  if (lost) return new CallFailure(words, options);
  if (code === REQUEST_TIMEOUT || name === "TimeoutError") {
    return new CallFailure(
      `gave no answer within ${formatDuration(timeoutMs)}`,
      options,
    );
  }
  if (code === CONNECTION_CLOSED) {
    return new CallFailure("closed the connection", { ...options, lost: true });
  }
  if (typeof code === "number" && /^MCP error/u.test(words)) {
    return new CallFailure(
      `answered with an error: ${words.replace(/^MCP error (-?\d+): /u, "")}`,
      options,
    );
  }
  if (typeof code === "number" && code >= 100) {
    const body = words.replace(/^.*?Error POSTing to endpoint: /u, "");
    return new CallFailure(
      `answered with the HTTP status ${code}${body === "" ? "" : `: ${body}`}`,
      // The status by which a server says that it does not know the session any more.
      { ...options, lost: code === 404, unseen: code === 404 },
    );
  }
  if (thrown instanceof TypeError) {
    return new CallFailure(`could not be reached: ${causeOf(thrown, words)}`, {
      ...options,
      lost: true,
    });
  }
  return new CallFailure(`did not answer as MCP does: ${words}`, options);
}

/** Node says only "fetch failed"; the reason is inside. */
function causeOf(thrown: Error, words: string): string {
  const { cause } = thrown;
  return cause instanceof Error && cause.message !== ""
    ? oneLine(`${words}: ${cause.message}`, MAX_WORDS)
    : words;
}
