/**
 * The permission question of the gate, put to the person at the editor.
 *
 * Whatever is not a clear yes refuses: an unknown option, a reply of another shape, an error, a
 * connection that closes.
 *
 * @module
 */
import {
  type AgentContext,
  methods,
  type PermissionOption,
  RequestError,
} from "@agentclientprotocol/sdk";
import { messageOf } from "../base/errors.ts";
import type { AskPermission, PermissionAnswer } from "../gate/question.ts";
import { askedCall } from "./call_view.ts";
import { fieldsOf, textOf } from "./fields.ts";
import { metaOf, readMeta } from "./meta.ts";

const OPTIONS: PermissionOption[] = [
  { optionId: "allow_once", kind: "allow_once", name: "Allow once" },
  { optionId: "allow_session", kind: "allow_always", name: "Allow for this session" },
  { optionId: "reject_once", kind: "reject_once", name: "Reject" },
  { optionId: "reject_session", kind: "reject_always", name: "Reject for this session" },
];

/**
 * Milliseconds in which a cancel may follow a question that was closed unanswered: editors send the
 * two in either order.
 */
const CANCEL_GRACE_MS = 100;

/** Options of {@linkcode permissionAsker}. */
export interface PermissionAskerOptions {
  readonly client: AgentContext;
  readonly sessionId: () => string;
}

/** Returns the function that asks the editor of one session. */
export function permissionAsker(options: PermissionAskerOptions): AskPermission {
  const { client, sessionId } = options;
  return async ({ call, mustAsk }, { signal }) => {
    if (signal.aborted) return { kind: "cancelled" };
    let reply: unknown;
    try {
      reply = await client.request(
        methods.client.session.requestPermission,
        {
          sessionId: sessionId(),
          toolCall: askedCall(call),
          options: OPTIONS,
          ...(mustAsk === undefined ? {} : { _meta: metaOf({ mustAsk: true }) }),
        },
        // An editor that never answers must not hold up a cancel.
        { cancellationSignal: signal, stopWaitingOnCancel: true },
      );
    } catch (error) {
      return signal.aborted ? { kind: "cancelled" } : unavailable(wordsFor(error));
    }
    return await answerOf(reply, signal);
  };
}

async function answerOf(reply: unknown, signal: AbortSignal): Promise<PermissionAnswer> {
  if (signal.aborted) return { kind: "cancelled" };
  const outcome = fieldsOf(fieldsOf(reply)["outcome"]);
  // An mm that asks this one knows more than the protocol can say.
  const reason = textOf(readMeta(reply)["reason"]);
  if (outcome["outcome"] === "cancelled") {
    if (await abortedWithin(signal, CANCEL_GRACE_MS)) return { kind: "cancelled" };
    return unavailable(reason ?? "the question was closed without an answer");
  }
  if (outcome["outcome"] !== "selected") return unavailable("the editor's answer was no answer");
  switch (outcome["optionId"]) {
    case "allow_once":
      return { kind: "allow_once" };
    case "allow_session":
      return { kind: "allow_session" };
    case "reject_once":
      return reason === undefined ? { kind: "reject_once" } : unavailable(reason);
    case "reject_session":
      return { kind: "reject_session" };
    default:
      return unavailable("the editor chose an option that was not offered");
  }
}

function unavailable(reason: string): PermissionAnswer {
  return { kind: "unavailable", reason };
}

function wordsFor(error: unknown): string {
  return error instanceof RequestError
    ? `the editor could not ask: ${messageOf(error)}`
    : "the connection to the editor is gone";
}

async function abortedWithin(signal: AbortSignal, ms: number): Promise<boolean> {
  let stop = () => {};
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    const onAbort = () => resolve();
    signal.addEventListener("abort", onAbort, { once: true });
    stop = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    };
  });
  stop();
  return signal.aborted;
}
