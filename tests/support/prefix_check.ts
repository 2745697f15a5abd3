/**
 * The stable prefix: what one request of a conversation sent is, byte for byte, the beginning of the
 * next one, so that a local server finds it in its cache.
 *
 * The server sees requests of several conversations (sessions, agents) mixed. Which one a request
 * belongs to is found out from the requests themselves:
 *
 * - it *continues* the longest earlier request that it begins with, whole; what it adds is one answer
 *   of the model with its tool results, pairs and marks of mm's own (texts that begin with `[`), and
 *   the next question; or
 * - it *opens* a conversation: a system message, pairs of asks, one question.
 *
 * Where it leaves the path of another earlier request beyond that point, it must be a fork that a
 * conversation can make: another answer of the model, or another last question with the pairs before it
 * (a second session, or a turn that was dropped), or what a fork gets in the place of the results of the
 * calls that made it. Any other changed tool result, an answer rewritten later, tools in another order
 * or a question that grew are none.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { ParsedRequest } from "./parsed_request.ts";
import { textOfMessage, type WireMessage } from "./wire.ts";

/** Bytes of context shown on both sides of the first difference. */
const CONTEXT = 60;

/** Returns what is wrong with the beginning of a request, or `undefined`. */
export function prefixFault(
  request: ParsedRequest,
  earlier: readonly ParsedRequest[],
): string | undefined {
  if (request.newPrefix) return undefined;
  const known = earlier.filter((other) => other.head === request.head);
  const parents = known.filter((other) => isWholePrefix(other, request));
  const parent = longest(parents);
  for (const other of known) {
    const common = commonMessages(other, request);
    if (common <= (parent?.messages.length ?? 0)) continue;
    if (common === other.messages.length || common === request.messages.length) continue;
    const role = messageAt(request, common)?.role;
    const rest = (request.body.messages ?? []).slice(common);
    if (role === "assistant" || isNextQuestion(rest) || isForked(rest)) continue;
    return `does not go on as request ${other.number} did: ` +
      `messages[${common}] (${role}) was changed; ${difference(other, request)}`;
  }
  if (parent !== undefined) return tailFault(request, parent);
  if (isOpening(request.body.messages ?? [])) return undefined;
  return strangerFault(request, earlier);
}

/** What may follow the longest earlier request that this one begins with. */
function tailFault(request: ParsedRequest, parent: ParsedRequest): string | undefined {
  const tail = (request.body.messages ?? []).slice(parent.messages.length);
  const answers = tail.filter((m) => m.role === "assistant" && !isOwnWords(m));
  if (answers.length <= 1) return undefined;
  return `begins like request ${parent.number}, then holds ${answers.length} answers of the model ` +
    `that no earlier request led to: an earlier message was changed`;
}

/** A conversation that begins: system, pairs of asks, one question. */
function isOpening(messages: readonly WireMessage[]): boolean {
  return isNextQuestion(messages[0]?.role === "system" ? messages.slice(1) : messages);
}

/** Pairs of asks, and questions that mm was stopped at before it sent them; then one question. */
function isNextQuestion(messages: readonly WireMessage[]): boolean {
  if (messages.at(-1)?.role !== "user" || messages.length % 2 === 0) return false;
  for (let i = 0; i + 1 < messages.length; i += 2) {
    const [asked, answer] = [messages[i], messages[i + 1]];
    if (asked?.role !== "user" || answer?.role !== "assistant") return false;
    const isPair = /^\[(?:asked|forked) /u.test(textOfMessage(asked)) && isOwnWords(answer);
    const neverSent = /^\[(?:cancelled by the user|interrupted)\]$/u.test(textOfMessage(answer));
    if (!isPair && !neverSent) return false;
  }
  return true;
}

/** The results of a round in a fork: one is its task, the others are carried out elsewhere. */
function isForked(messages: readonly WireMessage[]): boolean {
  const results = messages.slice(0, messages.findIndex(({ role }) => role !== "tool") >>> 0);
  return results.length > 0 &&
    results.every((result) =>
      /^(?:You are a fork of this conversation|\[this call is carried out by the agent)/u
        .test(textOfMessage(result))
    );
}

/** Pairs and marks that mm adds by itself, not answers of its model. */
function isOwnWords(message: WireMessage): boolean {
  return (message.tool_calls ?? []).length === 0 && textOfMessage(message).startsWith("[");
}

function strangerFault(request: ParsedRequest, earlier: readonly ParsedRequest[]): string {
  const closest = longestBy(earlier, (other) => commonMessages(other, request));
  if (closest === undefined) return "opens no conversation: it holds answers that were never given";
  if (closest.head !== request.head) {
    return `goes on with a changed model or changed tools; against request ${closest.number}: ` +
      differenceOf(closest.head, request.head);
  }
  return `neither continues an earlier request nor opens a conversation; ` +
    `against request ${closest.number}: ${difference(closest, request)}`;
}

function isWholePrefix(shorter: ParsedRequest, request: ParsedRequest): boolean {
  return commonMessages(shorter, request) === shorter.messages.length;
}

function commonMessages(a: ParsedRequest, b: ParsedRequest): number {
  let n = 0;
  while (n < a.messages.length && a.messages[n] === b.messages[n]) n++;
  return n;
}

function longest(requests: readonly ParsedRequest[]): ParsedRequest | undefined {
  return longestBy(requests, (request) => request.messages.length);
}

function longestBy(
  requests: readonly ParsedRequest[],
  size: (request: ParsedRequest) => number,
): ParsedRequest | undefined {
  return requests.reduce<ParsedRequest | undefined>(
    (best, one) => best === undefined || size(one) > size(best) ? one : best,
    undefined,
  );
}

function messageAt(request: ParsedRequest, index: number): WireMessage | undefined {
  return request.body.messages?.[index];
}

function difference(before: ParsedRequest, after: ParsedRequest): string {
  return differenceOf(`[${before.messages.join(",")}]`, `[${after.messages.join(",")}]`);
}

/** Says where two texts begin to differ and what stands there. */
export function differenceOf(before: string, after: string): string {
  let at = 0;
  while (at < before.length && before[at] === after[at]) at++;
  const byte = Buffer.byteLength(before.slice(0, at));
  const around = (text: string) => JSON.stringify(text.slice(Math.max(0, at - 20), at + CONTEXT));
  return `first difference at byte ${byte}: ${around(before)} became ${around(after)}`;
}
