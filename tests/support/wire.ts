/**
 * The OpenAI chat wire shape, as far as the test server and its checks read it.
 *
 * @module
 */

/** A call of a tool in an assistant message. */
export interface WireToolCall {
  readonly id: string;
  readonly type?: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

/** One message of a request. */
export interface WireMessage {
  readonly role: string;
  readonly content?: string | null | readonly { readonly type: string; readonly text?: string }[];
  readonly tool_calls?: readonly WireToolCall[];
  readonly tool_call_id?: string;
}

/** The body of a request for a chat completion. */
export interface WireBody {
  readonly model?: string;
  readonly messages?: readonly WireMessage[];
  readonly tools?: readonly {
    readonly function: { readonly name: string; readonly description?: string };
  }[];
  readonly stream?: boolean;
  readonly [key: string]: unknown;
}

/** Returns the text of a message; parts that are no text are left out. */
export function textOfMessage(message: WireMessage | undefined): string {
  const content = message?.content;
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => part.text ?? "").join("");
}
