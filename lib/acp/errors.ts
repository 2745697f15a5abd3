/**
 * Failures as JSON-RPC errors that a person can read in an editor.
 *
 * @module
 */
import { RequestError } from "@agentclientprotocol/sdk";
import { messageOf } from "../base/errors.ts";

/** Parameters are wrong (JSON-RPC). */
const INVALID_PARAMS = -32602;

/** Something failed on this side (JSON-RPC). */
const INTERNAL_ERROR = -32603;

/** Returns the error for parameters that have the right shape but not a usable value. */
export function invalidParams(sentence: string): RequestError {
  return new RequestError(INVALID_PARAMS, sentence, { details: sentence });
}

/**
 * Returns the error for something that failed, without a stack.
 *
 * Editors show `message`, or `data.details`, or both: the sentence stands in each.
 *
 * @param facts more fields of the error's `data`.
 */
export function failure(sentence: string, facts: Record<string, unknown> = {}): RequestError {
  return new RequestError(INTERNAL_ERROR, sentence, { ...facts, details: sentence });
}

/** Returns anything that was thrown as an error for the other side. */
export function requestErrorOf(thrown: unknown, redact: (text: string) => string): RequestError {
  if (thrown instanceof RequestError) return thrown;
  return failure(redact(messageOf(thrown)));
}
