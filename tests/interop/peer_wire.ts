/**
 * What the scripted model server for programs of others is asked and answers, whatever the wire.
 *
 * @module
 */
// deno-lint-ignore no-explicit-any
type Json = any;

/** What the model does. */
export type PeerReply =
  | { readonly text: string; readonly delayMs?: number }
  | { readonly calls: readonly PeerCall[]; readonly delayMs?: number }
  /** Never answers. */
  | { readonly hang: true };

/** A call of a tool. */
export interface PeerCall {
  readonly name: string;
  readonly arguments: unknown;
  /** The group the tool was declared in, on the wire that has groups. */
  readonly namespace?: string;
}

/** What the model was asked, whatever the wire. */
export interface PeerRequest {
  /** The text of all user messages. */
  readonly question: string;
  /** The results of tools after the last user message. */
  readonly results: readonly string[];
  /** Names of the tools that were offered. */
  readonly tools: readonly string[];
  readonly authorization: string | undefined;
  /** The body as it came. */
  readonly body: Json;
}

/** A reply that is sent. */
export type PeerAnswer = Exclude<PeerReply, { readonly hang: true }>;

/** One way to say requests and replies. */
export interface PeerWire {
  read(body: Json): Omit<PeerRequest, "authorization" | "body">;
  /** The reply in one piece. */
  whole(reply: PeerAnswer, id: string): Json;
  /** The events of the streamed reply. */
  events(reply: PeerAnswer, id: string): Json[];
}
