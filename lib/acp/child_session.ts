/**
 * A session of an asked agent.
 *
 * @module
 */
import {
  type ClientContext,
  methods,
  type RequestPermissionResponse,
} from "@agentclientprotocol/sdk";
import {
  ChildError,
  type ChildPromptOptions,
  type ChildReply,
  type ChildSession,
  type ChildStop,
} from "../agents/child_connection.ts";
import type { PermissionAnswer } from "../gate/question.ts";
import { childErrorOf } from "./child_error.ts";
import { CANCELLED, permissionReply } from "./child_permission.ts";
import { childCallOf, childUpdatesOf } from "./child_updates.ts";
import { type Fields, fieldsOf, textOf } from "./fields.ts";
import { MAX_MESSAGE_BYTES } from "./limits.ts";
import { readMeta, readUsage } from "./meta.ts";
import { STEER } from "./steer.ts";

/** Milliseconds that the end of a session is waited for. */
const CLOSE_MS = 1000;

/** Options of {@linkcode OpenChildSession}. */
export interface OpenChildSessionOptions {
  readonly id: string;
  readonly label: string | undefined;
  readonly window: number | undefined;
  readonly agent: ClientContext;
  /** Whether the agent can end a session. */
  readonly closable: boolean;
  /** Whether the agent takes messages while it works. */
  readonly steerable: boolean;
  /** Called when the session is closed. */
  readonly onClose: (session: OpenChildSession) => void;
}

/** A session that can be prompted. Updates and questions are handed to it by the connection. */
export class OpenChildSession implements ChildSession {
  readonly id: string;
  readonly label: string | undefined;
  readonly window: number | undefined;
  readonly #agent: ClientContext;
  readonly #closable: boolean;
  readonly #steerable: boolean;
  readonly #onClose: (session: OpenChildSession) => void;
  #prompt: ChildPromptOptions | undefined;

  /** Creates the session that the agent opened. */
  constructor(options: OpenChildSessionOptions) {
    this.id = options.id;
    this.label = options.label;
    this.window = options.window;
    this.#agent = options.agent;
    this.#closable = options.closable;
    this.#steerable = options.steerable;
    this.#onClose = options.onClose;
  }

  async prompt(text: string, options: ChildPromptOptions): Promise<ChildReply> {
    if (this.#prompt !== undefined) {
      throw new Error("Cannot send a second prompt: the session is still answering the first");
    }
    const { signal } = options;
    if (signal.aborted) return { stop: "cancelled" };
    // A message that long ends the connection and with it every other ask.
    if (text.length * 3 > MAX_MESSAGE_BYTES / 2) {
      throw new ChildError("agent", `Cannot send a prompt of ${text.length} characters: too long`);
    }
    this.#prompt = options;
    const onAbort = () => {
      // A connection that is gone needs no cancel; the prompt rejects by itself.
      this.#agent.notify(methods.agent.session.cancel, { sessionId: this.id }).catch(() => {});
    };
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      const reply = await this.#agent.request(methods.agent.session.prompt, {
        sessionId: this.id,
        prompt: [{ type: "text", text }],
      });
      return replyOf(fieldsOf(reply), this.label);
    } catch (error) {
      throw childErrorOf(error);
    } finally {
      this.#prompt = undefined;
      signal.removeEventListener("abort", onAbort);
    }
  }

  async steer(text: string): Promise<boolean> {
    if (!this.#steerable || this.#prompt === undefined) return false;
    try {
      // Without a limit in time: an answer that is given up could still be a yes.
      const reply = await this.#agent.request(STEER, { sessionId: this.id, text });
      return fieldsOf(reply)["accepted"] === true;
    } catch {
      return false;
    }
  }

  async close(): Promise<void> {
    this.#onClose(this);
    if (!this.#closable) return;
    const signal = AbortSignal.timeout(CLOSE_MS);
    try {
      await this.#agent.request(methods.agent.session.close, { sessionId: this.id }, {
        cancellationSignal: signal,
        stopWaitingOnCancel: true,
      });
    } catch {
      // The session is given up either way.
    }
  }

  /** Takes an update; one that belongs to no prompt has nobody to go to. */
  take(update: unknown): void {
    const prompt = this.#prompt;
    if (prompt === undefined) return;
    for (const taken of childUpdatesOf(update)) prompt.onUpdate(taken);
  }

  /** Answers a permission question; without a prompt that waits for it, nothing is permitted. */
  async permit(question: Fields, signal: AbortSignal): Promise<RequestPermissionResponse> {
    const prompt = this.#prompt;
    const call = childCallOf(question["toolCall"]);
    if (prompt === undefined || call === undefined || prompt.signal.aborted) return CANCELLED;
    const withdrawn = AbortSignal.any([signal, prompt.signal]);
    const answer = await orCancelled(
      prompt.onPermission(call, {
        signal: withdrawn,
        ...(readMeta(question)["mustAsk"] === true ? { mustAsk: true } : {}),
      }),
      withdrawn,
    );
    return permissionReply(answer, question["options"]);
  }
}

/** Waits for an answer, no longer than the question stands. */
async function orCancelled(
  asked: Promise<PermissionAnswer>,
  signal: AbortSignal,
): Promise<PermissionAnswer> {
  let onAbort = () => {};
  const withdrawn = new Promise<PermissionAnswer>((resolve) => {
    onAbort = () => resolve({ kind: "cancelled" });
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
  try {
    return await Promise.race([asked, withdrawn]);
  } catch {
    return { kind: "unavailable", reason: "the question could not be shown" };
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

function replyOf(reply: Fields, sessionLabel: string | undefined): ChildReply {
  const meta = readMeta(reply);
  const label = textOf(meta["label"]) ?? sessionLabel;
  const usage = readUsage(meta["usage"]) ?? readUsage(reply["usage"]);
  return {
    stop: meta["limit"] === "loop" ? "loop" : stopOf(reply["stopReason"]),
    ...(label === undefined ? {} : { label }),
    ...(usage === undefined ? {} : { usage }),
  };
}

function stopOf(value: unknown): ChildStop {
  switch (value) {
    case "end_turn":
    case "max_tokens":
    case "max_turn_requests":
    case "refusal":
    case "cancelled":
      return value;
    default:
      return { unknown: typeof value === "string" ? value : "no stop reason" };
  }
}
