/**
 * One session: prompts and slash commands, one after the other.
 *
 * @module
 */
import type { AgentPool } from "../agents/pool.ts";
import { messageOf, UserError } from "../base/errors.ts";
import type { AskHooks } from "../hooks/ask_hooks.ts";
import type { OpenedSession } from "../store/opened_session.ts";
import type { SeenFile } from "../tools/file_views.ts";
import type { Tool } from "../tools/tool.ts";
import { agentsCommand } from "./agents_command.ts";
import { infoText } from "./info_command.ts";
import { openSaved, sessionsText } from "./kept_conversation.ts";
import { modelCommand } from "./model_command.ts";
import { SessionConversation, type SessionConversationOptions } from "./session_conversation.ts";
import type { SessionModel } from "./session_model.ts";
import { commandsOf, type InfoName, readCommand } from "./slash.ts";
import {
  busyReason,
  type CommandAnswer,
  forkCommand,
  noDelegation,
  tasksCommand,
} from "./task_commands.ts";
import { askedResult, typedAsk } from "./typed_ask.ts";
import type { BackgroundWork, CommandInfo, PromptInput, PromptResult, Session } from "./types.ts";
import { reportWindow } from "./window_report.ts";
import { withheldReason } from "./withheld.ts";

/** Options of {@linkcode AgentSession}. */
export interface AgentSessionOptions
  extends Omit<SessionConversationOptions, "tools" | "withheld" | "yolo"> {
  readonly id: string;
  readonly pool: AgentPool;
  /** What is run around each ask; absent where nothing is. */
  readonly hooks?: AskHooks | undefined;
  /** The tools, given the session's own yolo. */
  readonly tools: (yolo: () => boolean) => readonly Tool[];
  /** How deep this process is in a chain of asks. */
  readonly depth: number;
  /** Whether the prompts are another agent's: no text of theirs is a command. */
  readonly subagent: boolean;
  readonly onClose: () => void;
}

const NOTHING: BackgroundWork = { active: 0, ids: [], pending: false, watch: () => () => {} };

/** One session; what its prompts are turns of is its {@linkcode SessionConversation}. */
export class AgentSession implements Session {
  readonly id: string;
  readonly cwd: string;
  readonly commands: readonly CommandInfo[];
  yolo: boolean;
  readonly #options: AgentSessionOptions;
  readonly #tools: readonly Tool[];
  readonly #conversation: SessionConversation;
  readonly #closing = new AbortController();
  #queue: Promise<unknown> = Promise.resolve();

  /** Creates the session; nothing runs yet. */
  constructor(options: AgentSessionOptions) {
    this.#options = options;
    this.id = options.id;
    this.cwd = options.cwd;
    this.yolo = options.config.yolo;
    this.commands = commandsOf(this.#agents);
    this.#tools = options.tools(() => this.yolo);
    this.#conversation = new SessionConversation({
      ...options,
      tools: () => this.tools,
      withheld: (name) => withheldReason(name, options),
      yolo: () => this.yolo,
    });
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
    const { section, state } = this.#conversation.instructions;
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
    return this.#conversation.steer(text);
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
      return await this.#conversation.saved(
        "",
        () => this.#conversation.turn({ text: "" }, signal),
      );
    });
  }

  tasks(rest: string, options: { readonly signal: AbortSignal }): Promise<CommandAnswer> {
    return tasksCommand({ ...options, delegation: this.#options.delegation, rest });
  }

  /** The tools as they are declared to the model now. */
  get tools(): readonly Tool[] {
    return [...this.#tools, ...this.#options.mcp.tools];
  }

  /** The files that its conversation has read. */
  get files(): readonly SeenFile[] {
    return this.#conversation.files;
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error("The session was closed"));
    await Promise.all([
      this.#conversation.close(),
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
    const saved = (run: () => Promise<PromptResult>) => this.#conversation.saved(input.text, run);
    switch (command.kind) {
      case "prompt":
        return await saved(() => this.#conversation.turn(input, signal));
      case "ask":
        return await saved(() => this.#ask(command, signal));
      case "info":
        return this.#say(this.#info(command.name, command.rest));
      case "agents":
        return await this.#agentsCommand(command.rest, signal);
      case "model":
        return await this.#chooseModel(command.name, signal);
      case "compact":
        return await this.#compact(command.focus, signal);
      case "tasks":
        return this.#answer(await this.tasks(command.rest, { signal }));
      case "fork":
        return await saved(() => this.#fork(command.directive));
      case "new":
        if (this.#busy !== undefined) return this.#wrong(this.#busy);
        await this.#conversation.begin();
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
    await this.#conversation.takeUp(opened);
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
    await this.#conversation.begin();
    await this.takeUp(opened);
    return this.#say(`This is "${opened.title ?? opened.id}" again.`);
  }

  async #compact(focus: string, signal: AbortSignal): Promise<PromptResult> {
    const { text, ...result } = await this.#conversation.compact(focus, signal);
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
      instructions: this.#conversation.instructions.state,
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
