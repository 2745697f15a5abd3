/**
 * Errors that reach a user: one sentence that names what, where and what to do.
 *
 * @module
 */
import { EXIT } from "./ends.ts";

/** Options of {@linkcode UserError}. */
export interface UserErrorOptions extends ErrorOptions {
  /** Exit status of a command that ends with this error. @default {1} */
  readonly exit?: number;
}

/** An error whose message is meant for the user as it stands: no stack trace, no secret. */
export class UserError extends Error {
  /** Exit status of a command that ends with this error. */
  readonly exit: number;

  /** Creates the error from a sentence without a final period. */
  constructor(message: string, options: UserErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "UserError";
    this.exit = options.exit ?? EXIT.failed;
  }
}

/** A wrong command line or configuration: exit status 2. */
export class UsageError extends UserError {
  /** Creates the error from a sentence without a final period. */
  constructor(message: string, options: ErrorOptions = {}) {
    super(message, { ...options, exit: EXIT.usage });
    this.name = "UsageError";
  }
}

/** Returns the words of anything that was thrown, for a message to the user. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
