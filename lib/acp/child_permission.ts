/**
 * An asked agent's permission question, answered by whoever sits at the asking agent.
 *
 * @module
 */
import type { RequestPermissionResponse } from "@agentclientprotocol/sdk";
import type { PermissionAnswer } from "../gate/question.ts";
import { fieldsOf, listOf, textOf } from "./fields.ts";
import { metaOf } from "./meta.ts";

/** The answer when no answer came. */
export const CANCELLED: RequestPermissionResponse = { outcome: { outcome: "cancelled" } };

/**
 * Returns an answer in the terms that the agent offered. A yes for once never becomes more than
 * that; a no is said in whatever form there is.
 *
 * @param offered the options of the question, as they came.
 */
export function permissionReply(
  answer: PermissionAnswer,
  offered: unknown,
): RequestPermissionResponse {
  switch (answer.kind) {
    case "allow_session":
      return selected(offered, ["allow_always", "allow_once"]) ?? refused(offered);
    case "allow_once":
      return selected(offered, ["allow_once"]) ??
        refused(offered, "the asked agent does not offer to allow a call only once");
    case "reject_session":
      return selected(offered, ["reject_always", "reject_once"]) ?? CANCELLED;
    case "reject_once":
      return refused(offered);
    case "cancelled":
      return CANCELLED;
    case "unavailable":
      return refused(offered, answer.reason);
  }
}

function refused(offered: unknown, reason?: string): RequestPermissionResponse {
  const reply = selected(offered, ["reject_once", "reject_always"]) ?? CANCELLED;
  return reason === undefined ? reply : { ...reply, _meta: metaOf({ reason }) };
}

/**
 * Returns the choice of the first of `kinds` that was offered. An id that stands for more than one
 * option says nothing: it could be taken for the other one.
 */
function selected(
  offered: unknown,
  kinds: readonly string[],
): RequestPermissionResponse | undefined {
  const options = listOf(offered).map(fieldsOf);
  const ids = options.map((option) => textOf(option["optionId"]));
  for (const kind of kinds) {
    const optionId = ids[options.findIndex((option) => option["kind"] === kind)];
    if (optionId !== undefined && ids.filter((id) => id === optionId).length === 1) {
      return { outcome: { outcome: "selected", optionId } };
    }
  }
  return undefined;
}
