/**
 * Knowing when a reply has got its place among the messages that are sent.
 *
 * @module
 */
import type { AnyMessage, JsonRpcId } from "@agentclientprotocol/sdk";

/** Watches for the replies to requests of the other side. */
export class Replies {
  readonly #waiting = new Map<JsonRpcId, (() => void)[]>();
  #closed = false;

  /** Returns a promise that settles when the reply to `id` was sent, or never will be. */
  sent(id: JsonRpcId): Promise<void> {
    if (this.#closed) return Promise.resolve();
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(id);
      if (waiting === undefined) this.#waiting.set(id, [resolve]);
      else waiting.push(resolve);
    });
  }

  /** Notes a message that was sent. */
  note(message: AnyMessage): void {
    if ("method" in message || message.id === undefined) return;
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    for (const resolve of waiting ?? []) resolve();
  }

  /** The connection is gone: nobody waits any longer. */
  close(): void {
    this.#closed = true;
    for (const waiting of this.#waiting.values()) waiting.forEach((resolve) => resolve());
    this.#waiting.clear();
  }
}
