/**
 * One conversation: prompts and slash commands, one after the other.
 *
 * @module
 */
import type { ForkOpening } from "../agents/child_connection.ts";
import type { AgentPool } from "../agents/pool.ts";
import { messageOf, UserError } from "../base/errors.ts";
import type { AgentConfig } from "../config/types.ts";
import type { Delegation } from "../delegation/delegation.ts";
import { Compaction } from "../engine/compaction.ts";
import type { Conversation } from "../engine/conversation.ts";
import type { Emit } from "../engine/events.ts";
import { Steering } from "../engine/steering.ts";
import { runTurn } from "../engine/turn.ts";
import type { Gate } from "../gate/gate.ts";
import type { AskHooks } from "../hooks/ask_hooks.ts";
import type { Say, SessionServers } from "../mcp/session_servers.ts";
import type { Commands } from "../platform/process.ts";
import type { OpenedSession } from "../store/opened_session.ts";
import { replayEvents } from "../store/replay.ts";
import { FileViews } from "../tools/file_views.ts";
import type { Tool } from "../tools/tool.ts";
import type { AskUser } from "../tools/user_question.ts";
import { infoText } from "./info_command.ts";
import type { CommandExports } from "./command_exports.ts";
import { compactCommand } from "./compact_command.ts";
import { ForkedTurns } from "./fork.ts";
import { type ConversationOpening, openConversation } from "./conversation_opening.ts";
import { InstructionsReporter } from "./instructions_reporter.ts";
import type { ProjectInstructions } from "./project_instructions.ts";
import { type Keeping, openSaved, sessionsText } from "./kept_conversation.ts";
import { modelCommand } from "./model_command.ts";
import { agentsCommand } from "./agents_command.ts";
import { busyReason, forkCommand, noDelegation, tasksCommand } from "./task_commands.ts";
import type { SessionModel } from "./session_model.ts";
import { commandsOf, type InfoName, readCommand } from "./slash.ts";
import { askedResult, typedAsk } from "./typed_ask.ts";
import { withheldReason } from "./withheld.ts";
import { reportWindow } from "./window_report.ts";
import type {
  BackgroundWork,
  CommandInfo,
  PromptInput,
  PromptResult,
  ReplayOptions,
  Session,
} from "./types.ts";

/** Options of {@linkcode AgentSession}. */
export interface AgentSessionOptions {
  readonly id: string;
  readonly cwd: string;
  readonly config: AgentConfig;
  readonly model: SessionModel;
  readonly pool: AgentPool;
  /** Shows what happens, and saves it. */
  readonly emit: Emit;
  /** Shows what is not a part of the conversation. */
  readonly show: Emit;
  /** Where the conversation is saved; absent where none is. */
  readonly keeping?: Keeping;
  readonly replay?: ReplayOptions;
  readonly gate: Gate;
  /** What is run around each ask; absent where nothing is. */
  readonly hooks?: AskHooks | undefined;
  /** The tools, given the session's own yolo. */
  readonly tools: (yolo: () => boolean) => readonly Tool[];
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
  /** How deep this process is in a chain of asks. */
  readonly depth: number;
  /** Whether the prompts are another agent's: no text of theirs is a command. */
  readonly subagent: boolean;
  /** Present for a fork of another conversation. */
  readonly fork?: ForkOpening;
  readonly onClose: () => void;
}

/** The runs of a conversation lie beside it, under this name. */
export const RUNS_FILE = "agents.jsonl";

const NOTHING: BackgroundWork = { active: 0, pending: false, watch: () => () => {} };

/** One conversation. */
export class AgentSession implements Session {
  readonly id: string;
  readonly cwd: string;
  readonly commands: readonly CommandInfo[];
  yolo: boolean;
  readonly #options: AgentSessionOptions;
  readonly #tools: readonly Tool[];
  #files = new FileViews();
  readonly #closing = new AbortController();
  #queue: Promise<unknown> = Promise.resolve();
  readonly #compaction: Compaction;
  readonly #reporter: InstructionsReporter;
  readonly #steering = new Steering();
  readonly #forked: ForkedTurns | undefined;
  #instructions: ProjectInstructions;

  /** Creates the session; nothing runs yet. */
  constructor(options: AgentSessionOptions) {
    this.#options = options;
    this.id = options.id;
    this.cwd = options.cwd;
    this.yolo = options.config.yolo;
    this.commands = commandsOf(this.#agents);
    this.#tools = options.tools(() => this.yolo);
    this.#compaction = new Compaction({
      ...options,
      settings: options.config.compaction,
      patienceMs: options.config.watchdogTimeoutMs,
      fitted: options.fork !== undefined,
    });
    this.#forked = options.fork && new ForkedTurns(options.fork);
    this.#reporter = new InstructionsReporter({ ...options, emit: options.show });
    this.#instructions = this.#opened(options.opening);
    const { model, show: emit } = options;
    void reportWindow({ model, emit, signal: this.#closing.signal });
  }

  get title(): string | undefined {
    return this.#options.keeping?.log.title;
  }

  get model(): SessionModel {
    return this.#options.model;
  }

  get instructions(): string {
    const { section, state } = this.#instructions;
    return section === undefined ? "" : state;
  }

  prompt(
    input: PromptInput,
    options: { readonly signal: AbortSignal },
  ): Promise<PromptResult> {
    return this.#enqueue(options.signal, (signal) => this.#run(input, signal));
  }

  /** Runs a task when those before it are over. Never rejects: every failure is an end. */
  #enqueue<T>(
    asked: AbortSignal,
    task: (signal: AbortSignal) => Promise<T>,
  ): Promise<T | PromptResult> {
    const signal = AbortSignal.any([asked, this.#closing.signal]);
    const result = this.#queue.then(() => task(signal)).catch((thrown) =>
      this.#result({ kind: "failed", reason: messageOf(thrown), cause: thrown })
    );
    this.#queue = result;
    return result;
  }

  steer(text: string): boolean {
    return this.#steering.offer(text);
  }

  get background(): BackgroundWork {
    return this.#options.delegation?.runs ?? NOTHING;
  }

  async deliver(
    options: { readonly signal: AbortSignal },
  ): Promise<PromptResult | undefined> {
    if (!this.background.pending) return undefined;
    return await this.#enqueue(options.signal, async (signal) => {
      // A prompt that came before has told it.
      if (!this.background.pending) return undefined;
      return await this.#saved("", () => this.#turn({ text: "" }, signal));
    });
  }

  /** The tools as they are declared to the model now. */
  get tools(): readonly Tool[] {
    return [...this.#tools, ...this.#options.mcp.tools];
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error("The session was closed"));
    await Promise.all([
      this.#reporter.close(),
      this.#queue,
      this.#options.delegation?.runs.close(),
    ]);
    await Promise.all([this.#options.commands.close(), this.#options.mcp.close()]);
    await this.#options.exports.close();
    await this.#options.keeping?.log.close();
    this.#options.onClose();
  }

  /** Why another conversation cannot begin; `undefined` where it can. */
  get #busy(): string | undefined {
    return busyReason(this.background.active);
  }

  get #agents() {
    const { pool } = this.#options;
    return pool.mayAsk ? pool.entries : [];
  }

  async #run(input: PromptInput, signal: AbortSignal): Promise<PromptResult> {
    if (signal.aborted) return this.#result({ kind: "cancelled" });
    const { pool, subagent } = this.#options;
    const command = subagent ? { kind: "prompt" } as const : readCommand(input.text, pool.entries);
    switch (command.kind) {
      case "prompt":
        return await this.#saved(input.text, () => this.#turn(input, signal));
      case "ask":
        return await this.#saved(input.text, () => this.#ask(command, signal));
      case "info":
        return this.#say(this.#info(command.name, command.rest));
      case "agents":
        return await this.#agentsCommand(command.rest, signal);
      case "model":
        return await this.#chooseModel(command.name, signal);
      case "compact":
        return await this.#compact(command.focus, signal);
      case "tasks":
        return this.#answer(await tasksCommand(this.#options.delegation, command.rest));
      case "fork":
        return await this.#saved(input.text, () => this.#fork(command.directive));
      case "new":
        if (this.#busy !== undefined) return this.#wrong(this.#busy);
        await this.#begin();
        await this.#options.keeping?.log.renew(crypto.randomUUID());
        return this.#say("A fresh conversation begins.");
      case "sessions":
        return this.#say(await sessionsText(this.#options.keeping, this.cwd));
      case "resume":
        return await this.#resume(command.beginning);
      case "quit":
        return { ...this.#result({ kind: "answered" }), action: "quit" };
      case "wrong":
        return this.#wrong(command.message);
    }
  }

  /** Takes up a saved conversation where it ended, and shows again what was seen of it. */
  async takeUp(opened: OpenedSession): Promise<void> {
    const { conversation, keeping, replay, show } = this.#options;
    await keeping?.log.adopt(opened);
    conversation.restore(opened.messages);
    this.#compaction.reset();
    const runs = keeping?.log.sidecarPath(RUNS_FILE);
    if (runs !== undefined) await this.#options.delegation?.restore(runs);
    if (replay !== undefined) {
      for (const event of replayEvents(opened.events, replay.how)) replay.show(event);
    }
    if (opened.notice !== undefined) {
      show({ type: "notice", severity: "warning", text: opened.notice });
    }
  }

  async #resume(beginning: string): Promise<PromptResult> {
    const { keeping } = this.#options;
    if (this.#busy !== undefined) return this.#wrong(this.#busy);
    let opened: OpenedSession;
    try {
      opened = await openSaved(keeping, { beginning, cwd: this.cwd });
    } catch (thrown) {
      if (!(thrown instanceof UserError)) throw thrown;
      return this.#wrong(thrown.message);
    }
    await this.#begin();
    await this.takeUp(opened);
    return this.#say(`This is "${opened.title ?? opened.id}" again.`);
  }

  /** Runs a prompt that belongs to the conversation. */
  async #saved(text: string, run: () => Promise<PromptResult>): Promise<PromptResult> {
    const log = this.#options.keeping?.log;
    log?.said(text);
    try {
      return await run();
    } finally {
      log?.rest();
    }
  }

  /** What was said, read and permitted belongs to the conversation that ends here. */
  async #begin(): Promise<void> {
    const { cwd } = this;
    const { config, model, conversation } = this.#options;
    const opening = await openConversation({ cwd, config, window: model.contextWindow });
    conversation.clear(opening.system);
    this.#steering.clear();
    this.#compaction.reset();
    model.forgetUsage();
    this.#instructions = this.#opened(opening);
    this.#options.gate.forget();
    await this.#options.delegation?.clear();
    this.#options.mcp.renew();
    this.#files = new FileViews();
  }

  #opened({ instructions, window }: ConversationOpening): ProjectInstructions {
    this.#reporter.begin(instructions, window);
    return instructions;
  }

  async #turn(input: PromptInput, signal: AbortSignal): Promise<PromptResult> {
    const unread = this.#steering.begin();
    try {
      return await this.#modelTurn({ ...input, text: joined(unread, input.text) }, signal);
    } finally {
      this.#steering.end();
    }
  }

  async #modelTurn(input: PromptInput, signal: AbortSignal): Promise<PromptResult> {
    const { config, conversation, model, exports, ...rest } = this.#options;
    const say: Say = (severity, text) => rest.show({ type: "notice", severity, text });
    try {
      await rest.mcp.prepare({ signal, say });
    } catch (thrown) {
      if (!signal.aborted) throw thrown;
      return this.#result({ kind: "cancelled" });
    }
    this.#reporter.look();
    // Whether images are sent depends on it, and what is sent shall be what was sent before.
    if (this.#forked !== undefined) await model.facts({});
    // Taken at the last moment: what a cancel kept from the model is told with the next prompt.
    const text = joined(this.#options.delegation?.news(), input.text);
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
      tools: this.tools,
      withheld: (name) => withheldReason(name, this.#options),
      gate: rest.gate,
      yolo: () => this.yolo,
      emit: rest.emit,
      signal,
      cwd: this.cwd,
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

  async #compact(focus: string, signal: AbortSignal): Promise<PromptResult> {
    const { config, model, emit, keeping } = this.#options;
    const { text, ...result } = await compactCommand({
      compaction: this.#compaction,
      focus,
      tools: this.tools,
      emit,
      watchdogTimeoutMs: config.watchdogTimeoutMs,
      label: model.label,
      signal,
    });
    if (text !== "") emit({ type: "text", messageId: crypto.randomUUID(), text: `${text}\n` });
    keeping?.log.rest();
    return { ...this.#result(result.end, text), ...result, subject: "/compact" };
  }

  async #ask(
    command: { readonly agent: string; readonly prompt: string; readonly withContext: boolean },
    signal: AbortSignal,
  ): Promise<PromptResult> {
    const { pool, conversation, gate, emit, config } = this.#options;
    if (pool.entry(command.agent) === undefined) {
      const words = pool.unknownAgent(command.agent);
      return this.#wrong(words.slice(0, 1).toUpperCase() + words.slice(1));
    }
    const result = await typedAsk({
      ...command,
      pool,
      conversation,
      gate,
      hooks: this.#options.hooks,
      emit,
      yolo: () => this.yolo,
      cwd: this.cwd,
      maxOutput: config.maxOutput,
      signal,
    });
    return askedResult(command.agent, result);
  }

  async #fork(directive: string): Promise<PromptResult> {
    const { delegation, conversation, config, depth } = this.#options;
    return this.#answer(
      await forkCommand({
        delegation,
        directive,
        conversation,
        limit: noDelegation(depth, config.delegation.maxDepth),
      }),
    );
  }

  async #agentsCommand(rest: string, signal: AbortSignal): Promise<PromptResult> {
    const { pool, config, delegation } = this.#options;
    return this.#answer(
      await agentsCommand({ rest, pool, delegation, config, yolo: this.yolo, signal }),
    );
  }

  #info(name: InfoName, rest: string): string {
    if (name === "yolo") return this.#setYolo(rest);
    const { model, conversation, config, mcp, keeping, commands } = this.#options;
    return infoText(name, {
      id: keeping?.log.id ?? this.id,
      cwd: this.cwd,
      yolo: this.yolo,
      commands: this.commands,
      model,
      config,
      mcp: mcp.status(),
      tools: this.tools,
      messages: conversation.messages,
      instructions: this.#instructions.state,
      background: commands.background(),
    });
  }

  async #chooseModel(name: string, signal: AbortSignal): Promise<PromptResult> {
    try {
      return this.#say(await modelCommand(this.model, name, { signal }));
    } catch (thrown) {
      if (signal.aborted) return this.#result({ kind: "cancelled" });
      if (!(thrown instanceof UserError)) throw thrown;
      return this.#wrong(thrown.message);
    }
  }

  #setYolo(rest: string): string {
    if (rest !== "" && rest !== "on" && rest !== "off") {
      return `/yolo takes "on" or "off", not "${rest}".`;
    }
    this.yolo = rest === "" ? !this.yolo : rest === "on";
    return this.yolo
      ? "yolo is on: calls run without a question."
      : "yolo is off: gated calls ask.";
  }

  #answer({ ok, text }: { readonly ok: boolean; readonly text: string }): PromptResult {
    return ok ? this.#say(text) : this.#wrong(text);
  }

  /** Answers a command that needs no model. */
  #say(text: string): PromptResult {
    this.#options.show({ type: "text", messageId: crypto.randomUUID(), text: `${text}\n` });
    return this.#result({ kind: "answered" }, text);
  }

  /** Ends a command that could not be carried out: no turn of the model failed. */
  #wrong(sentence: string): PromptResult {
    return { ...this.#result({ kind: "failed", reason: sentence }, sentence), subject: "" };
  }

  #result(end: PromptResult["end"], text = ""): PromptResult {
    return { end, text, toolCalls: 0, label: this.#options.model.label };
  }
}

/** Texts as one prompt; absent and empty ones are left out. */
function joined(...texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined && text !== "").join("\n\n");
}
