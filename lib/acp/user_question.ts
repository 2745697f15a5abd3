/**
 * A question of the model, put to the person at the editor: as a form where the editor has forms.
 *
 * @module
 */
import {
  type AgentContext,
  type CreateElicitationRequest,
  methods,
  RequestError,
} from "@agentclientprotocol/sdk";
import { messageOf } from "../base/errors.ts";
import type { AskUser, UserAnswer, UserQuestion } from "../tools/user_question.ts";
import { fieldsOf, textOf } from "./fields.ts";

/** The one field of the form. */
const FIELD = "answer";

/** Options of {@linkcode userAsker}. */
export interface UserAskerOptions {
  readonly client: AgentContext;
  readonly sessionId: () => string;
  /** Whether the editor said that it shows forms. */
  readonly forms: boolean;
}

/**
 * Returns the function that asks the person at one session. An editor without forms, and the mm of an
 * asking agent, get the question as the answer of the turn.
 */
export function userAsker(options: UserAskerOptions): AskUser {
  const { client, sessionId, forms } = options;
  if (!forms) return () => Promise.resolve({ kind: "as_text" });
  return async (question, { signal }) => {
    if (signal.aborted) return { kind: "cancelled" };
    try {
      const reply: unknown = await client.request(
        methods.client.elicitation.create,
        formOf(question, sessionId()),
        // An editor that never answers must not hold up a cancel.
        { cancellationSignal: signal, stopWaitingOnCancel: true },
      );
      return signal.aborted ? { kind: "cancelled" } : answerOf(reply);
    } catch (error) {
      if (signal.aborted) return { kind: "cancelled" };
      return {
        kind: "unavailable",
        reason: error instanceof RequestError
          ? `the editor could not ask: ${messageOf(error)}`
          : "the connection to the editor is gone",
      };
    }
  };
}

function formOf(question: UserQuestion, sessionId: string): CreateElicitationRequest {
  return {
    mode: "form",
    sessionId,
    toolCallId: question.callId,
    message: question.question,
    requestedSchema: {
      type: "object",
      properties: {
        [FIELD]: {
          type: "string",
          title: "Answer",
          ...(question.options.length === 0 ? {} : { enum: [...question.options] }),
        },
      },
      required: [FIELD],
    },
  };
}

function answerOf(reply: unknown): UserAnswer {
  const { action, content } = fieldsOf(reply);
  switch (action) {
    case "accept": {
      const text = textOf(fieldsOf(content)[FIELD]);
      return text === undefined ? { kind: "declined" } : { kind: "answered", text };
    }
    case "decline":
    case "cancel":
      return { kind: "declined" };
    default:
      return { kind: "unavailable", reason: "the editor's answer was no answer" };
  }
}
