/**
 * The conversation of a session: how a turn of it runs, what belongs to it and is gone with it, and how
 * another one takes its place.
 *
 * @module
 */
import type { ForkOpening } from "../agents/child_connection.ts";
import type { AgentConfig } from "../config/types.ts";
import type { Delegation } from "../delegation/delegation.ts";
import { Compaction } from "../engine/compaction.ts";
import type { Conversation } from "../engine/conversation.ts";
import type { Emit } from "../engine/events.ts";
import { Steering } from "../engine/steering.ts";
import { runTurn } from "../engine/turn.ts";
import type { Gate } from "../gate/gate.ts";
import type { Say, SessionServers } from "../mcp/session_servers.ts";
import type { Commands } from "../platform/process.ts";
import type { OpenedSession } from "../store/opened_session.ts";
import { replayEvents } from "../store/replay.ts";
import { FileViews, type SeenFile } from "../tools/file_views.ts";
import type { Tool } from "../tools/tool.ts";
import type { AskUser } from "../tools/user_question.ts";
import type { CommandExports } from "./command_exports.ts";
import { compactCommand, type CompactResult } from "./compact_command.ts";
import { type ConversationOpening, openConversation } from "./conversation_opening.ts";
import { ForkedTurns } from "./fork.ts";
import { InstructionsReporter } from "./instructions_reporter.ts";
import type { Keeping } from "./kept_conversation.ts";
import type { ProjectInstructions } from "./project_instructions.ts";
import type { SessionModel } from "./session_model.ts";
import { pausedWords } from "./task_commands.ts";
import type { PromptInput, PromptResult, ReplayOptions } from "./types.ts";

/** The runs of a conversation lie beside it, under this name. */
export const RUNS_FILE = "agents.jsonl";

/** Options of {@linkcode SessionConversation}. */
export interface SessionConversationOptions {
  /** The working directory, absolute. */
  readonly cwd: string;
  readonly config: AgentConfig;
  readonly model: SessionModel;
  /** Shows what happens, and saves it. */
  readonly emit: Emit;
  /** Shows what is not a part of the conversation. */
  readonly show: Emit;
  /** Where the conversation is saved; absent where none is. */
  readonly keeping?: Keeping;
  readonly replay?: ReplayOptions;
  readonly gate: Gate;
  /** Whether gated calls run without a question. */
  readonly yolo: () => boolean;
  /** The tools as they are declared to the model now. */
  readonly tools: () => readonly Tool[];
  /** Why a tool that exists is not offered, for a model that calls it all the same. */
  readonly withheld: (name: string) => string | undefined;
  /** The MCP servers and their tools. */
  readonly mcp: SessionServers;
  /** Puts the model's questions to the person; absent where nobody is there. */
  readonly askUser?: AskUser;
  readonly commands: Commands;
  readonly conversation: Conversation;
  /** What the conversation begins with. */
  readonly opening: ConversationOpening;
  readonly exports: CommandExports;
  /** Subagents; absent where none may be started. */
  readonly delegation: Delegation | undefined;
  /** Present for a fork of another conversation. */
  readonly fork?: ForkOpening;
}

/** The conversation that goes on in a session, which asks for one thing after the other. */
export class SessionConversation {
  readonly #options: SessionConversationOptions;
  #files: FileViews;
  readonly #compaction: Compaction;
  readonly #reporter: InstructionsReporter;
  readonly #steering = new Steering();
  readonly #forked: ForkedTurns | undefined;
  #instructions: ProjectInstructions;

  /** Creates it; nothing runs yet. */
  constructor(options: SessionConversationOptions) {
    this.#options = options;
    const { config, fork, opening } = options;
    this.#files = new FileViews(fork?.files);
    this.#compaction = new Compaction({
      ...options,
      settings: config.compaction,
      patienceMs: config.watchdogTimeoutMs,
      fitted: fork !== undefined,
    });
    this.#forked = fork && new ForkedTurns(fork);
    this.#reporter = new InstructionsReporter({ ...options, emit: options.show });
    this.#instructions = this.#opened(opening);
  }

  /** The project's instructions that it began with. */
  get instructions(): ProjectInstructions {
    return this.#instructions;
  }

  /** The files that were read in it, the last one last. */
  get files(): readonly SeenFile[] {
    return this.#files.files;
  }

  /** Takes in what is said while a turn runs; `false` where no turn will tell it. */
  steer(text: string): boolean {
    return this.#steering.offer(text);
  }

  /** Runs something that belongs to the conversation, and saves that it was asked for. */
  async saved(text: string, run: () => Promise<PromptResult>): Promise<PromptResult> {
    const log = this.#options.keeping?.log;
    log?.said(text);
    try {
      return await run();
    } finally {
      log?.rest();
    }
  }

  /** Runs a turn. What goes wrong in it is an end; what cannot even begin is thrown. */
  async turn(input: PromptInput, signal: AbortSignal): Promise<PromptResult> {
    const unread = this.#steering.begin();
    try {
      return await this.#turn({ ...input, text: joined(unread, input.text) }, signal);
    } finally {
      this.#steering.end();
    }
  }

  async #turn(input: PromptInput, signal: AbortSignal): Promise<PromptResult> {
    const { config, conversation, model, exports, ...rest } = this.#options;
    const say: Say = (severity, text) => rest.show({ type: "notice", severity, text });
    try {
      await rest.mcp.prepare({ signal, say });
    } catch (thrown) {
      if (!signal.aborted) throw thrown;
      return { end: { kind: "cancelled" }, text: "", toolCalls: 0, label: model.label };
    }
    this.#reporter.look();
    // Whether images are sent depends on it, and what is sent shall be what was sent before.
    if (this.#forked !== undefined) await model.facts({});
    // Taken at the last moment: what a cancel kept from the model is told with the next prompt.
    const text = joined(rest.delegation?.news(), input.text);
    const outcome = await runTurn({
      conversation,
      model,
      text,
      ...(input.images === undefined ? {} : { images: input.images }),
      watchdogTimeoutMs: config.watchdogTimeoutMs,
      compaction: this.#compaction,
      ...(config.maxTurns === undefined ? {} : { maxTurns: config.maxTurns }),
      // A fork reports to the agent it was forked from.
      ...(config.structuredOutput === undefined || this.#forked !== undefined
        ? {}
        : { outputSchema: config.structuredOutput.schema }),
      maxOutput: config.maxOutput,
      bashTimeoutMs: config.bashTimeoutMs,
      bashTimeoutMaxMs: config.bashTimeoutMaxMs,
      tools: rest.tools(),
      withheld: rest.withheld,
      gate: rest.gate,
      yolo: rest.yolo,
      emit: rest.emit,
      signal,
      cwd: rest.cwd,
      files: this.#files,
      commands: rest.commands,
      commandEnv: () => exports.environment(conversation.messages),
      ...(rest.askUser === undefined ? {} : { askUser: rest.askUser }),
      steering: this.#steering,
      ...this.#forked?.options(text),
    });
    this.#reporter.look();
    return { ...outcome, label: model.label };
  }

  /** Compresses it for a person; `focus` is what shall be kept above all, empty for nothing. */
  async compact(focus: string, signal: AbortSignal): Promise<CompactResult> {
    const { config, model, emit, keeping, tools } = this.#options;
    const result = await compactCommand({
      compaction: this.#compaction,
      focus,
      tools: tools(),
      emit,
      watchdogTimeoutMs: config.watchdogTimeoutMs,
      label: model.label,
      signal,
    });
    const { text } = result;
    if (text !== "") emit({ type: "text", messageId: crypto.randomUUID(), text: `${text}\n` });
    keeping?.log.rest();
    return result;
  }

  /** Another one begins: what was said, read and permitted belongs to the one that ends here. */
  async begin(): Promise<void> {
    const { cwd, config, model, conversation, gate, delegation, mcp } = this.#options;
    const opening = await openConversation({ cwd, config, window: model.contextWindow });
    conversation.clear(opening.system);
    this.#steering.clear();
    this.#compaction.reset();
    model.forgetUsage();
    this.#instructions = this.#opened(opening);
    gate.forget();
    await delegation?.clear();
    mcp.renew();
    this.#files = new FileViews();
  }

  /** Takes up a saved one where it ended, and shows again what was seen of it. */
  async takeUp(opened: OpenedSession): Promise<void> {
    const { conversation, keeping, replay, show, delegation } = this.#options;
    await keeping?.log.adopt(opened);
    conversation.restore(opened.messages);
    this.#compaction.reset();
    const runs = keeping?.log.sidecarPath(RUNS_FILE);
    const paused = runs === undefined ? [] : await delegation?.restore(runs) ?? [];
    if (replay !== undefined) {
      for (const event of replayEvents(opened.events, replay.how)) replay.show(event);
    }
    if (opened.notice !== undefined) {
      show({ type: "notice", severity: "warning", text: opened.notice });
    }
    const text = pausedWords(paused);
    if (text !== undefined) show({ type: "notice", severity: "info", text });
  }

  /** Ends with the session. */
  async close(): Promise<void> {
    await this.#reporter.close();
  }

  #opened({ instructions, window }: ConversationOpening): ProjectInstructions {
    this.#reporter.begin(instructions, window);
    return instructions;
  }
}

/** Texts as one prompt; absent and empty ones are left out. */
function joined(...texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined && text !== "").join("\n\n");
}
