/**
 * What an asked agent's failures say.
 *
 * @module
 */
import { RequestError } from "@agentclientprotocol/sdk";
import { cutMiddle } from "../base/cut.ts";
import { messageOf } from "../base/errors.ts";
import { ChildError } from "../agents/child_connection.ts";
import { fieldsOf, textOf } from "./fields.ts";

/** UTF-16 units of an agent's own words in an error. */
const MAX_WORDS = 2000;

/** The agent wants a login first (ACP). */
const AUTH_REQUIRED = -32000;

/**
 * Returns what was thrown by a request as an error with the agent's own words. Anything but an answer
 * of the agent means that the connection was lost before there was one.
 */
export function childErrorOf(thrown: unknown): ChildError {
  return thrown instanceof RequestError
    ? new ChildError("agent", wordsOf(thrown), { cause: thrown })
    : new ChildError("closed", messageOf(thrown), { cause: thrown });
}

function wordsOf(error: RequestError): string {
  const data = fieldsOf(error.data);
  const words = textOf(data["details"]) ?? textOf(data["message"]) ?? textOf(error.data) ??
    textOf(messageOf(error)) ?? `error ${error.code} without words`;
  const bounded = cutMiddle(words.trim(), MAX_WORDS).text;
  return error.code === AUTH_REQUIRED ? `it wants a login first: ${bounded}` : bounded;
}
