/**
 * The messages of one conversation, kept so that strict chat templates accept them: an optional
 * system message, then user and assistant in turn, tool rounds inside. Messages are only ever added
 * at the end: what was sent once is the beginning of every later request, byte for byte. The one
 * exception is a compression.
 *
 * @module
 */
import type { ToolCallRequest } from "../base/tool_call.ts";
import type { AssistantMessage, Image, Message } from "../model/types.ts";

/** Keeps what becomes of a conversation. Must not throw. */
export interface Journal {
  /** A message was added at the end. */
  added(message: Message): void;
  /** The messages were replaced by others that stand for them: a compression. */
  replaced(): void;
}

/** One conversation. */
export class Conversation {
  #messages: Message[];
  #system: string | undefined;
  readonly #journal: Journal | undefined;

  /** Begins an empty conversation under a system prompt; `journal` is told of what is added. */
  constructor(system?: string, options: { readonly journal?: Journal } = {}) {
    this.#system = system;
    this.#journal = options.journal;
    this.#messages = opening(system);
  }

  /** The messages so far, the system message first. */
  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** The calls of the last answer that have no result yet, in order. */
  get openCalls(): readonly ToolCallRequest[] {
    return openCallsOf(this.#messages);
  }

  /** Forgets everything but the system prompt, or begins anew under another one. */
  clear(system: string | undefined = this.#system): void {
    this.#system = system;
    this.#messages = opening(this.#system);
  }

  /**
   * Takes up an earlier conversation where it ended, under the system prompt of this one. The journal
   * is not told: it has these messages.
   *
   * @param messages without a system message; the last turn closed, or at calls that the caller then
   * gives their results.
   */
  restore(messages: readonly Message[]): void {
    this.#messages = [...opening(this.#system), ...messages];
  }

  /**
   * Puts other messages in place of those there are, under the same system prompt: a compression.
   *
   * @param messages without a system message; the last turn is as open as it was.
   */
  replace(messages: readonly Message[]): void {
    this.#messages = [...opening(this.#system), ...messages];
    this.#journal?.replaced();
  }

  /**
   * Adds what a person said.
   *
   * @throws {Error} when the last turn was not closed: a mistake of the caller.
   */
  addUser(text: string, images: readonly Image[] = []): void {
    const last = this.#messages.at(-1);
    if (last !== undefined && last.role !== "system" && !isClosing(last)) {
      throw new Error(`Cannot add a user message after an open ${last.role} message`);
    }
    this.#add({
      role: "user",
      text: text.toWellFormed(),
      ...(images.length > 0 ? { images } : {}),
    });
  }

  /**
   * Adds an answer of the model.
   *
   * @throws {Error} when nothing was asked: a mistake of the caller.
   */
  addAssistant(message: AssistantMessage): void {
    const last = this.#messages.at(-1);
    if (last?.role !== "user" && last?.role !== "tool") {
      throw new Error(`Cannot add an assistant message after ${last?.role ?? "nothing"}`);
    }
    this.#add({ ...message, text: message.text.toWellFormed() });
  }

  /** Adds the result of a call. Results have to come in the order of the calls. */
  addToolResult(result: { readonly callId: string; readonly name: string; text: string }): void {
    this.#add({
      role: "tool",
      callId: result.callId,
      name: result.name,
      text: result.text.toWellFormed(),
    });
  }

  /** Adds a question to an asked agent and its answer as a pair of messages. */
  addPair(question: string, answer: string): void {
    this.addUser(question);
    this.addAssistant({ role: "assistant", text: answer });
  }

  /**
   * Closes a turn that ended without an answer, so that the next user message is accepted: open calls
   * get `mark` as their result, and an assistant message says `mark`. A turn that has its answer is
   * left as it is. Nothing is taken back: a request that began with these messages was sent.
   */
  close(mark: string): void {
    const last = this.#messages.at(-1);
    if (last === undefined || last.role === "system" || isClosing(last)) return;
    for (const call of this.openCalls) {
      this.addToolResult({ callId: call.id, name: call.name, text: mark });
    }
    this.addAssistant({ role: "assistant", text: mark });
  }

  #add(message: Message): void {
    this.#messages.push(message);
    this.#journal?.added(message);
  }
}

/** Returns the calls of the last answer that have no result yet, in order. */
export function openCallsOf(messages: readonly Message[]): readonly ToolCallRequest[] {
  const at = messages.findLastIndex((message) => message.role === "assistant");
  const calling = messages[at];
  if (calling?.role !== "assistant") return [];
  const answered = messages.slice(at + 1).filter((message) => message.role === "tool").length;
  // A user message after the assistant's means that its calls belong to an earlier turn.
  if (messages.length - at - 1 !== answered) return [];
  return (calling.toolCalls ?? []).slice(answered);
}

function opening(system: string | undefined): Message[] {
  return system === undefined || system === "" ? [] : [{ role: "system", text: system }];
}

function isClosing(message: Message): boolean {
  return message.role === "assistant" && (message.toolCalls?.length ?? 0) === 0;
}
