/**
 * One session as an editor drives it: prompts one after the other, cancels, the mode.
 *
 * @module
 */
import type { PromptRequest, PromptResponse, SessionConfigOption } from "@agentclientprotocol/sdk";
import { describeEnd } from "../base/ends.ts";
import { UserError } from "../base/errors.ts";
import { settledOrAborted } from "../base/until_aborted.ts";
import type { PromptInput, Session, SessionHost } from "../session/types.ts";
import { configOptions, effortOf, modelNameOf, modeOf } from "./config_options.ts";
import { promptInput } from "./content.ts";
import { invalidParams } from "./errors.ts";
import type { ParkedQuestions } from "./parked_questions.ts";
import { cancelledReply, promptReply } from "./prompt_reply.ts";
import type { SessionUpdates } from "./updates.ts";

/** Milliseconds between the answer to `session/new` and the first update; see `announce`. */
const ANNOUNCE_DELAY_MS = 5;

/** Options of {@linkcode AgentSession}. */
export interface AgentSessionOptions {
  readonly host: SessionHost;
  readonly session: Session;
  readonly updates: SessionUpdates;
  /** The permission questions that wait for a prompt. */
  readonly questions: ParkedQuestions;
  readonly redact: (text: string) => string;
  /** Whether somebody there chooses a model. */
  readonly choosing: boolean;
}

/** Options of {@linkcode AgentSession.prompt}. */
export interface AgentPromptOptions {
  /** Aborted by a cancel of the session or of the request, or when the connection closes. */
  readonly signal: AbortSignal;
  /** Settles when the reply to this prompt has been sent, or never will be. */
  readonly replied: Promise<void>;
}

/** A session of the editor. */
export class AgentSession {
  readonly #host: SessionHost;
  readonly #session: Session;
  readonly #updates: SessionUpdates;
  readonly #questions: ParkedQuestions;
  readonly #redact: (text: string) => string;
  /** The prompts that were accepted and not answered yet. */
  readonly #prompts = new Set<AbortController>();
  /** Settles when the replies to all prompts so far have been sent. */
  #last: Promise<unknown> = Promise.resolve();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #closed = false;
  /** Whether the editor knows the session. */
  #announced = false;
  /** Whether the server was asked for its models, or nobody wants to know. */
  #looked: boolean;
  readonly #closing = new AbortController();
  #told: { yolo: boolean; options: string; commands: string };

  /** Takes over a session that was just created. */
  constructor(options: AgentSessionOptions) {
    this.#host = options.host;
    this.#session = options.session;
    this.#updates = options.updates;
    this.#questions = options.questions;
    this.#redact = options.redact;
    this.#looked = !options.choosing;
    const { yolo } = this.#session;
    this.#told = { yolo, options: JSON.stringify(this.options), commands: "" };
  }

  /** The session's id. */
  get id(): string {
    return this.#session.id;
  }

  /** Whether gated calls run without a question. */
  get yolo(): boolean {
    return this.#session.yolo;
  }

  /** All options with their current values. */
  get options(): SessionConfigOption[] {
    return configOptions(this.#session);
  }

  /**
   * Tells the editor what the session offers, shortly after the answer that named it. Editors take
   * a moment to note the new session, and drop what comes before they have.
   */
  announce(): void {
    this.#timer = setTimeout(() => this.#open(), ANNOUNCE_DELAY_MS);
  }

  /**
   * Runs a prompt when those before it are answered.
   *
   * @throws {RequestError} when it cannot be run, or failed.
   */
  async prompt(params: PromptRequest, options: AgentPromptOptions): Promise<PromptResponse> {
    const input = promptInput(params.prompt, { images: this.#session.model.images });
    const controller = new AbortController();
    const { signal } = controller;
    const onAbort = () => controller.abort(options.signal.reason);
    options.signal.addEventListener("abort", onAbort, { once: true });
    if (options.signal.aborted) onAbort();
    this.#prompts.add(controller);
    const before = this.#last;
    this.#last = Promise.all([before, options.replied]);
    try {
      await settledOrAborted(before, signal);
      return signal.aborted
        ? cancelledReply(this.#session.model.label)
        : await this.#run(input, signal);
    } finally {
      this.#prompts.delete(controller);
      options.signal.removeEventListener("abort", onAbort);
    }
  }

  /** Says something to the model while a prompt runs. Returns whether that prompt will tell it. */
  steer(text: string): boolean {
    return this.#prompts.size > 0 && this.#session.steer(text);
  }

  /** Cancels every prompt that is not answered yet. */
  cancel(): void {
    for (const controller of this.#prompts) controller.abort();
  }

  /** Sets whether gated calls run without a question. */
  setYolo(yolo: boolean): void {
    this.#session.yolo = yolo;
    // Whoever names the session knows it.
    this.#open();
  }

  /**
   * Takes another model.
   *
   * @param options.bare whether the value is the name on the server, without the provider before it.
   * @throws {RequestError} -32602 when there is none of that name.
   */
  async chooseModel(value: string, options: { readonly bare: boolean }): Promise<void> {
    const { model } = this.#session;
    // What the configuration says of its model has to be known as being about that one.
    if (options.bare) await this.#host.ready;
    if (options.bare ? value !== model.settings.model : value !== model.label) {
      await orInvalid(model.choose(options.bare ? value : modelNameOf(value, model)));
    }
    this.#open();
  }

  /**
   * Takes another reasoning effort.
   *
   * @throws {RequestError} -32602 when there is no such choice.
   */
  async chooseEffort(value: unknown): Promise<void> {
    const { model } = this.#session;
    const chosen = effortOf(value, model);
    if (chosen === undefined) throw invalidParams(`Cannot set the reasoning to "${value}"`);
    await orInvalid(model.think(chosen.effort));
    this.#open();
  }

  /**
   * Asks the server once which models there are to choose from, and tells the editor. A provider that is
   * asked nothing about itself hears nothing of mm before the first prompt.
   */
  async lookForModels(options: { readonly prompted: boolean }): Promise<void> {
    const { model } = this.#session;
    await this.#host.ready;
    if (this.#looked || !(options.prompted || model.asked)) return;
    this.#looked = true;
    await model.models({ signal: this.#closing.signal });
    // Before it is open, the reply that opens it has everything.
    if (this.#announced) this.#tellChanges();
  }

  /** Cancels what runs and ends the session. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#closed = true;
    this.#closing.abort();
    this.cancel();
    this.#questions.close();
    await this.#session.close();
    this.#updates.close();
  }

  async #run(input: PromptInput, signal: AbortSignal): Promise<PromptResponse> {
    const updates = this.#updates;
    this.#open();
    updates.begin();
    this.#questions.begin();
    try {
      const result = await this.#session.prompt(input, { signal });
      const { speaker } = updates;
      if (speaker === undefined && result.usage !== undefined) {
        void this.lookForModels({ prompted: true });
      }
      if (signal.aborted) return cancelledReply(result.label);
      if (result.end.kind === "refused" && !updates.shown) {
        updates.say(describeEnd(result.end, speaker ?? result.subject ?? "The prompt"));
      }
      return promptReply(result, { speaker, redact: this.#redact });
    } finally {
      this.#questions.end();
      updates.end();
      this.#tellChanges();
    }
  }

  #open(): void {
    clearTimeout(this.#timer);
    this.#announced = true;
    this.#updates.open();
    this.#tellChanges();
  }

  /** Reports what changed since it was last reported: by a slash command, a probe, an agent. */
  #tellChanges(): void {
    if (this.#closed) return;
    const { yolo } = this.#session;
    const options = JSON.stringify(this.options);
    const offered = this.#session.commands.map(({ name, description, hint }) => ({
      name,
      description,
      ...(hint === undefined ? {} : { input: { hint } }),
    }));
    const commands = JSON.stringify(offered);
    const told = this.#told;
    this.#told = { yolo, options, commands };
    if (commands !== told.commands) {
      this.#updates.send({
        sessionUpdate: "available_commands_update",
        availableCommands: offered,
      });
    }
    if (yolo !== told.yolo) {
      this.#updates.send({ sessionUpdate: "current_mode_update", currentModeId: modeOf(yolo) });
    }
    if (options !== told.options) {
      this.#updates.send({ sessionUpdate: "config_option_update", configOptions: this.options });
    }
  }
}

/** Makes what a person chose wrongly an error of the request. */
async function orInvalid(choosing: Promise<void>): Promise<void> {
  try {
    await choosing;
  } catch (error) {
    throw error instanceof UserError ? invalidParams(error.message) : error;
  }
}
