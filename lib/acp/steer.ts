/**
 * The private request by which a message reaches an agent while its prompt runs.
 *
 * @module
 */
import { invalidParams } from "./errors.ts";
import { fieldsOf, textOf } from "./fields.ts";

/** The method: `{sessionId, text}`, answered with `{accepted}`. */
export const STEER = "_mm/steer";

/** Parameters of the request. */
export interface SteerParams {
  readonly sessionId: string;
  /** Not blank. */
  readonly text: string;
}

/** The answer to the request. */
export interface SteerReply {
  /** Whether the model will read it in the prompt that runs. */
  readonly accepted: boolean;
}

/**
 * Reads the parameters.
 *
 * @throws {RequestError} -32602 when they have another shape.
 */
export function readSteerParams(params: unknown): SteerParams {
  const fields = fieldsOf(params);
  const sessionId = textOf(fields["sessionId"]);
  const text = textOf(fields["text"]);
  if (sessionId === undefined) {
    throw invalidParams('Cannot pass the message on: "sessionId" must be a text');
  }
  if (text === undefined || text.trim() === "") {
    throw invalidParams('Cannot pass the message on: "text" must be a text that is not blank');
  }
  return { sessionId, text };
}
