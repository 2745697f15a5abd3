/**
 * Messages that reach an agent while it works. The session takes them in, the turn takes them out, so
 * that each message is read once, in order, and who sends one knows whether it will be read.
 *
 * @module
 */

/** Returns a message as the model reads it: below words that say who sends it. */
export function framedMessage(text: string): string {
  return `[message from the agent that started you]\n${text.toWellFormed()}`;
}

/** The messages of one session. */
export class Steering {
  #open = false;
  #waiting: string[] = [];
  /** What was taken in, and the turn ended before it could read it. */
  #unread: string[] = [];

  /**
   * A turn begins: messages are taken in from now on.
   *
   * @returns what the turn before was told and did not read, for the beginning of the prompt.
   */
  begin(): string | undefined {
    this.#open = true;
    return framed(this.#unread.splice(0));
  }

  /** Takes a message in. Returns false where no turn is going to read it. */
  offer(text: string): boolean {
    if (this.#open) this.#waiting.push(text);
    return this.#open;
  }

  /** Takes the messages out, as the model reads them; `undefined` when there are none. */
  take(): string | undefined {
    return framed(this.#waiting.splice(0));
  }

  /** The turn looks no more: no message is taken in until the next one begins. */
  end(): void {
    this.#open = false;
    this.#unread.push(...this.#waiting.splice(0));
  }

  /** Another conversation begins. */
  clear(): void {
    this.#waiting = [];
    this.#unread = [];
  }
}

function framed(texts: readonly string[]): string | undefined {
  return texts.length === 0 ? undefined : texts.map(framedMessage).join("\n\n");
}
