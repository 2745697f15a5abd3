/**
 * The error for a conversation that does not exist.
 *
 * @module
 */
import { UserError } from "../base/errors.ts";

/** There is no saved conversation with an id. */
export class UnknownSessionError extends UserError {
  /** Creates the error for an id that somebody gave. */
  constructor(id: string) {
    super(`There is no conversation "${id}"`);
    this.name = "UnknownSessionError";
  }
}
