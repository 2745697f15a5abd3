/**
 * What a front end sees of mm: a host for the process, sessions in it, prompts in them.
 *
 * @module
 */
import type { ForkOpening } from "../agents/child_connection.ts";
import type { End } from "../base/ends.ts";
import type { AgentConfig, Effort, McpServerConfig } from "../config/types.ts";
import type { Emit } from "../engine/events.ts";
import type { AskPermission } from "../gate/question.ts";
import type { Image, ModelSettings, Usage } from "../model/types.ts";
import type { SavedSession } from "../store/saved_session.ts";
import type { ListOptions } from "../store/session_store.ts";
import type { AskUser } from "../tools/user_question.ts";

export type { ListOptions, SavedSession };

/** What a person or a script says to a session. */
export interface PromptInput {
  /** Plain text; a slash command when it begins with the name of one. */
  readonly text: string;
  /** Images beside the text. */
  readonly images?: readonly Image[];
}

/** How a prompt ended. */
export interface PromptResult {
  /** How the turn ended. */
  readonly end: End;
  /**
   * What ended, for `describeEnd()`: the asked agent's name; absent for the turn itself, empty where
   * the reason of a failure is a sentence of its own.
   */
  readonly subject?: string;
  /** The answer text of the last model request, or the asked agent's answer; may be partial. */
  readonly text: string;
  /** Tokens of all requests of this prompt together, where the server counted them. */
  readonly usage?: Usage;
  /** Tool calls made. */
  readonly toolCalls: number;
  /** `provider/model` that answered. */
  readonly label: string;
  /** What the front end should do next, for a slash command that is about it. */
  readonly action?: "quit";
}

/** A slash command, as front ends offer it. */
export interface CommandInfo {
  /** Without the slash: `ask-bob`. */
  readonly name: string;
  /** What the command does, in one line. */
  readonly description: string;
  /** What to type after it, where it takes something. */
  readonly hint?: string;
}

/** Options of {@linkcode SessionHost.createSession}. */
export interface CreateSessionOptions {
  /** The working directory, absolute and existing. */
  readonly cwd: string;
  /** Takes the events of all prompts of the session, in order. */
  readonly emit: Emit;
  /** Asks the person; refuses by itself where nobody is there. */
  readonly askPermission: AskPermission;
  /** Puts the model's questions to the person; absent where nobody is there. */
  readonly askUser?: AskUser;
  /** MCP servers besides those of the configuration; they end with the session. */
  readonly mcpServers?: readonly McpServerConfig[];
  /** How a saved conversation that is gone on with is shown again. @default {it is not} */
  readonly replay?: ReplayOptions;
  /** Told of the conversation's title once there is one, and when it becomes another. */
  readonly onTitle?: (title: string) => void;
  /** Whether nobody will look at what comes after the prompt: `mm -p`. @default {false} */
  readonly headless?: boolean;
  /** Whether the conversation is saved. @default {true, where any is} */
  readonly save?: boolean;
  /** Present for a fork of another conversation; only in a process that was started for subagents. */
  readonly fork?: ForkOpening;
}

/** How a saved conversation is shown again. */
export interface ReplayOptions {
  /** Everything, or the last prompts without thoughts and notices. */
  readonly how: "full" | "compact";
  /** Takes what was seen, in order. */
  readonly show: Emit;
}

/** Options of {@linkcode SavedSessions.resume}. */
export interface ResumeSessionOptions extends CreateSessionOptions {
  /** The conversation's id. */
  readonly id: string;
  /** Whether it is shown again, as `replay` says. @default {true} */
  readonly show?: boolean;
}

/** The saved conversations. */
export interface SavedSessions {
  /** Lists them, the one that was used last first. */
  list(options?: ListOptions): Promise<SavedSession[]>;
  /**
   * Returns the id that a beginning of it means among the conversations of a directory.
   *
   * @throws {UserError} when there is none, or more than one.
   */
  find(beginning: string, cwd: string): Promise<string>;
  /**
   * Goes on with one, in `cwd`. What was seen of it is shown before this returns.
   *
   * @throws {UserError} when there is none, or it cannot be used.
   */
  resume(options: ResumeSessionOptions): Promise<Session>;
  /**
   * Removes one; does nothing when there is none.
   *
   * @throws {UserError} when it is open.
   */
  delete(id: string): Promise<void>;
}

/** The model of a session, which a person can change. */
export interface ModelChoice {
  /** `provider/model`; the model may be unknown before the first request. */
  readonly label: string;
  /** What is in use. */
  readonly settings: ModelSettings;
  /** Whether the model is known to take images. */
  readonly images: boolean;
  /** Names of the server's models, as far as they are known: see {@linkcode ModelChoice.models}. */
  readonly listed: readonly string[];
  /** The reasoning efforts that can be chosen; empty where there is nothing to choose. */
  readonly efforts: readonly Effort[];
  /** Whether the server may be asked for its models before there was a prompt. */
  readonly asked: boolean;
  /** Asks the server for its models. Never rejects. */
  models(options: { readonly signal?: AbortSignal }): Promise<readonly string[] | undefined>;
  /**
   * Takes another model from the next request on.
   *
   * @throws {UserError} when the server has none of that name.
   */
  choose(name: string, options?: { readonly signal?: AbortSignal }): Promise<void>;
  /** Takes another reasoning effort from the next request on; `undefined` for the model's own. */
  think(effort: Effort | undefined): Promise<void>;
}

/** What runs in the background of a session. */
export interface BackgroundWork {
  /** Runs that wait for a slot, work, or wait for a person. */
  readonly active: number;
  /** The ids of the runs there are, also of those that ended. */
  readonly ids: readonly string[];
  /** Whether something ended that the model does not know yet: {@linkcode Session.deliver} tells it. */
  readonly pending: boolean;
  /** Calls back after each change of the two; returns a function that ends it. */
  watch(onChange: () => void): () => void;
}

/** One conversation. */
export interface Session {
  /** Unique and unguessable. */
  readonly id: string;
  /** The working directory, absolute. */
  readonly cwd: string;
  /** The beginning of the first prompt, once there was one; absent too where nothing is saved. */
  readonly title: string | undefined;
  /** Changes when agents do; a front end reads it when it needs it. */
  readonly commands: readonly CommandInfo[];
  /** Which project instructions were read, in one line; empty when there are none. */
  readonly instructions: string;
  /** Whether gated calls run without a question. */
  yolo: boolean;
  /** The model, which can be changed. */
  readonly model: ModelChoice;
  /**
   * Runs one prompt to its end. Prompts of one session run one after the other, in order. Never
   * rejects: every failure is an end.
   */
  prompt(input: PromptInput, options: { readonly signal: AbortSignal }): Promise<PromptResult>;
  /**
   * Says something to the model while a turn runs: it reads it after its next tool calls, or once it has
   * answered.
   *
   * @returns whether the turn that runs will tell it; false too when none runs.
   */
  steer(text: string): boolean;
  /** What runs in the background. */
  readonly background: BackgroundWork;
  /**
   * Runs a turn that tells the model what ended in the background. A prompt tells it by itself.
   *
   * @returns `undefined` when there was nothing to tell. Never rejects.
   */
  deliver(options: { readonly signal: AbortSignal }): Promise<PromptResult | undefined>;
  /**
   * Carries out what stands after `/tasks`, also while a prompt runs; shows nothing.
   *
   * @returns what is to be shown, and whether it was carried out. Never rejects but when it is aborted.
   */
  tasks(
    rest: string,
    options: { readonly signal: AbortSignal },
  ): Promise<{ readonly ok: boolean; readonly text: string }>;
  /** Cancels what runs and ends what the session started. */
  close(): Promise<void>;
}

/** What one process shares between its sessions: configuration, model, the asked agents. */
export interface SessionHost {
  /** The agent's configuration. */
  readonly config: AgentConfig;
  /** The name shown for this agent. */
  readonly title: string;
  /** `provider/model`; the model may be unknown before the first request. */
  readonly label: string;
  /** Whether the model takes images, where that is known. */
  readonly images: boolean;
  /** Tokens of the model's window, where that is known. */
  readonly window?: number | undefined;
  /** Settles when what the server says about the model is known, or will not be. Never rejects. */
  readonly ready?: Promise<unknown>;
  /** The saved conversations; absent where none are saved. */
  readonly saved?: SavedSessions | undefined;
  /** Whether another mm started this process for the runs of a subagent. @default {false} */
  readonly subagent?: boolean;
  /** Opens a conversation. */
  createSession(options: CreateSessionOptions): Promise<Session>;
  /** Ends all sessions and every asked agent. */
  close(): Promise<void>;
}
