/**
 * A question of the model to the person, and what can come of it.
 *
 * @module
 */

/** A question. */
export interface UserQuestion {
  /** What the agent wants to know. */
  readonly question: string;
  /** Answers to choose from; empty for any answer. */
  readonly options: readonly string[];
  /** The call that asks. */
  readonly callId: string;
}

/** What came of a question. */
export type UserAnswer =
  | { readonly kind: "answered"; readonly text: string }
  /** The person does not want to answer. */
  | { readonly kind: "declined" }
  /** The turn is being cancelled. */
  | { readonly kind: "cancelled" }
  /** This front end has no way to ask in the middle of a turn; the question can end the turn. */
  | { readonly kind: "as_text" }
  /** Nobody can answer, for this reason. */
  | { readonly kind: "unavailable"; readonly reason: string };

/**
 * Puts a question to the person at the front end. Must not throw. `signal` withdraws the question.
 */
export type AskUser = (
  question: UserQuestion,
  options: { readonly signal: AbortSignal },
) => Promise<UserAnswer>;
