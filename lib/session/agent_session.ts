/**
 * One conversation: prompts and slash commands, one after the other.
 *
 * @module
 */
import { ASK_AGENT, resultText } from "../agents/ask_agent_tool.ts";
import type { AgentPool } from "../agents/pool.ts";
import { messageOf } from "../base/errors.ts";
import type { AgentConfig } from "../config/types.ts";
import type { Conversation } from "../engine/conversation.ts";
import type { Emit } from "../engine/events.ts";
import { runTurn } from "../engine/turn.ts";
import type { Gate } from "../gate/gate.ts";
import type { ModelClient } from "../model/types.ts";
import type { Commands } from "../platform/process.ts";
import { FileViews } from "../tools/file_views.ts";
import type { Tool } from "../tools/tool.ts";
import { agentsText, helpText, modelText, statusText, toolsText } from "./info.ts";
import type { CommandExports } from "./command_exports.ts";
import { type ConversationOpening, openConversation } from "./conversation_opening.ts";
import { InstructionsReporter } from "./instructions_reporter.ts";
import type { ProjectInstructions } from "./project_instructions.ts";
import { commandsOf, type InfoName, readCommand } from "./slash.ts";
import { typedAsk } from "./typed_ask.ts";
import type { CommandInfo, PromptInput, PromptResult, Session } from "./types.ts";

/** Options of {@linkcode AgentSession}. */
export interface AgentSessionOptions {
  readonly id: string;
  readonly cwd: string;
  readonly config: AgentConfig;
  readonly model: ModelClient;
  readonly pool: AgentPool;
  readonly emit: Emit;
  readonly gate: Gate;
  /** The tools, given the session's own yolo. */
  readonly tools: (yolo: () => boolean) => readonly Tool[];
  readonly commands: Commands;
  readonly conversation: Conversation;
  /** What the conversation begins with. */
  readonly opening: ConversationOpening;
  readonly exports: CommandExports;
  readonly onClose: () => void;
}

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
  readonly #reporter: InstructionsReporter;
  #instructions: ProjectInstructions;

  /** Creates the session; nothing runs yet. */
  constructor(options: AgentSessionOptions) {
    this.#options = options;
    this.id = options.id;
    this.cwd = options.cwd;
    this.yolo = options.config.yolo;
    this.commands = commandsOf(this.#agents);
    this.#tools = options.tools(() => this.yolo);
    this.#reporter = new InstructionsReporter(options);
    this.#instructions = this.#opened(options.opening);
  }

  get instructions(): string {
    const { section, state } = this.#instructions;
    return section === undefined ? "" : state;
  }

  prompt(
    input: PromptInput,
    options: { readonly signal: AbortSignal },
  ): Promise<PromptResult> {
    const signal = AbortSignal.any([options.signal, this.#closing.signal]);
    const result = this.#queue.then(() => this.#run(input, signal)).catch((thrown) =>
      this.#result({ kind: "failed", reason: messageOf(thrown), cause: thrown })
    );
    this.#queue = result;
    return result;
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error("The session was closed"));
    this.#reporter.close();
    await this.#queue;
    await this.#options.commands.close();
    await this.#options.exports.close();
    this.#options.onClose();
  }

  get #agents() {
    const { pool } = this.#options;
    return pool.mayAsk ? pool.entries : [];
  }

  async #run(input: PromptInput, signal: AbortSignal): Promise<PromptResult> {
    if (signal.aborted) return this.#result({ kind: "cancelled" });
    const command = readCommand(input.text, this.#options.pool.entries);
    switch (command.kind) {
      case "prompt":
        return await this.#turn(input, signal);
      case "ask":
        return await this.#ask(command, signal);
      case "info":
        return this.#say(this.#info(command.name, command.rest));
      case "new":
        await this.#begin();
        return this.#say("A fresh conversation begins.");
      case "quit":
        return { ...this.#result({ kind: "answered" }), action: "quit" };
      case "wrong":
        return this.#result({ kind: "failed", reason: command.message }, command.message);
    }
  }

  /** What was said, read and permitted belongs to the conversation that ends here. */
  async #begin(): Promise<void> {
    const { cwd } = this;
    const { config, model, conversation } = this.#options;
    const opening = await openConversation({ cwd, config, window: model.contextWindow });
    conversation.clear(opening.system);
    this.#instructions = this.#opened(opening);
    this.#options.gate.forget();
    this.#files = new FileViews();
  }

  #opened({ instructions, window }: ConversationOpening): ProjectInstructions {
    this.#reporter.begin(instructions, window);
    return instructions;
  }

  async #turn(input: PromptInput, signal: AbortSignal): Promise<PromptResult> {
    const { config, conversation, model, exports, ...rest } = this.#options;
    this.#reporter.look();
    const outcome = await runTurn({
      conversation,
      model,
      text: input.text,
      ...(input.images === undefined ? {} : { images: input.images }),
      watchdogTimeoutMs: config.watchdogTimeoutMs,
      ...(config.maxTurns === undefined ? {} : { maxTurns: config.maxTurns }),
      ...(config.structuredOutput === undefined
        ? {}
        : { outputSchema: config.structuredOutput.schema }),
      maxOutput: config.maxOutput,
      bashTimeoutMs: config.bashTimeoutMs,
      bashTimeoutMaxMs: config.bashTimeoutMaxMs,
      tools: this.#tools,
      withheld: (name) => name === ASK_AGENT ? rest.pool.limit : undefined,
      gate: rest.gate,
      yolo: () => this.yolo,
      emit: rest.emit,
      signal,
      cwd: this.cwd,
      files: this.#files,
      commands: rest.commands,
      commandEnv: () => exports.environment(conversation.messages),
    });
    this.#reporter.look();
    return { ...outcome, label: model.label };
  }

  async #ask(
    command: { readonly agent: string; readonly prompt: string; readonly withContext: boolean },
    signal: AbortSignal,
  ): Promise<PromptResult> {
    const { pool, conversation, gate, emit, config } = this.#options;
    if (pool.entry(command.agent) === undefined) {
      const words = pool.unknownAgent(command.agent);
      return this.#result({ kind: "failed", reason: words }, words);
    }
    const result = await typedAsk({
      ...command,
      pool,
      conversation,
      gate,
      emit,
      yolo: () => this.yolo,
      cwd: this.cwd,
      maxOutput: config.maxOutput,
      signal,
    });
    return {
      end: result.end,
      subject: command.agent,
      text: result.end.kind === "answered" ? result.answer : resultText(command.agent, result),
      toolCalls: result.toolCalls,
      label: result.label ?? command.agent,
      ...(result.usage === undefined ? {} : { usage: result.usage }),
    };
  }

  #info(name: InfoName, rest: string): string {
    const { pool, model, conversation, config } = this.#options;
    switch (name) {
      case "help":
        return helpText(this.commands);
      case "agents":
        return agentsText(pool);
      case "model":
        return modelText(model);
      case "tools":
        return toolsText(this.#tools, this.yolo);
      case "yolo":
        return this.#setYolo(rest);
      case "status":
        return statusText({
          id: this.id,
          cwd: this.cwd,
          yolo: this.yolo,
          model,
          messages: conversation.messages,
          configFile: config.file,
          instructions: this.#instructions.state,
        });
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

  /** Answers a command that needs no model. */
  #say(text: string): PromptResult {
    this.#options.emit({ type: "text", messageId: crypto.randomUUID(), text: `${text}\n` });
    return this.#result({ kind: "answered" }, text);
  }

  #result(end: PromptResult["end"], text = ""): PromptResult {
    return { end, text, toolCalls: 0, label: this.#options.model.label };
  }
}
