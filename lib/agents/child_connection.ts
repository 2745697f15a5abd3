/**
 * What asking an agent needs from the protocol. The `acp` layer implements it over ACP; this layer
 * knows no protocol.
 *
 * @module
 */
import type { FileDiff, Location, ToolKind, ToolStatus } from "../base/tool_call.ts";
import type { PermissionAnswer } from "../gate/question.ts";
import type { McpServerConfig } from "../config/types.ts";
import type { ModelSettings, ToolDeclaration, Usage } from "../model/types.ts";
import type { SeenFile } from "../tools/file_views.ts";

/** Something an asked agent did in a session. */
export type ChildUpdate =
  | { readonly type: "text"; readonly messageId?: string; readonly text: string }
  | { readonly type: "thought"; readonly messageId?: string; readonly text: string }
  | { readonly type: "tool_call"; readonly call: ChildCallPart; readonly status: ToolStatus }
  | {
    readonly type: "tool_update";
    readonly callId: string;
    readonly status?: ToolStatus;
    readonly call: Partial<ChildCall>;
    /** The call's whole content so far, as text. */
    readonly text?: string;
  }
  | { readonly type: "usage"; readonly used: number; readonly size?: number }
  /** Something the agent says about its work, not part of the answer: a wait, a warning. */
  | {
    readonly type: "notice";
    readonly severity: "info" | "warning" | "error";
    readonly text: string;
  }
  /** Anything else, known or not: a sign of life. */
  | { readonly type: "other" };

/** A tool call of an asked agent. */
export interface ChildCall {
  readonly id: string;
  /** The tool's name where the agent gives it, else the kind of the call, else its title. */
  readonly name: string;
  readonly title: string;
  readonly kind: ToolKind;
  readonly input: unknown;
  readonly locations?: readonly Location[];
  readonly diffs?: readonly FileDiff[];
  /** The call of the same agent this one belongs to. */
  readonly parentId?: string;
}

/** What an agent says of a call: what it leaves out is as it was before. */
export type ChildCallPart = Pick<ChildCall, "id"> & Partial<ChildCall>;

/** Why an asked agent stopped; the words of ACP, unknown ones included. */
export type ChildStop =
  | "end_turn"
  | "max_tokens"
  | "max_turn_requests"
  /** Its calls went in circles: an mm says so beside the protocol. */
  | "loop"
  | "refusal"
  | "cancelled"
  | { readonly unknown: string };

/** The end of one prompt. */
export interface ChildReply {
  readonly stop: ChildStop;
  /** `provider/model`, where the agent said so. */
  readonly label?: string;
  readonly usage?: Usage;
}

/** Options of {@linkcode ChildSession.prompt}. */
export interface ChildPromptOptions {
  /** Sends a cancel; the prompt still waits for its answer. */
  readonly signal: AbortSignal;
  /** Every update that belongs to this prompt, in order, before the reply. */
  readonly onUpdate: (update: ChildUpdate) => void;
  /** A permission question, with what it says of the call. An answer after the end has no effect. */
  readonly onPermission: (
    call: ChildCallPart,
    options: ChildPermissionOptions,
  ) => Promise<PermissionAnswer>;
}

/** Options of a permission question of an asked agent. */
export interface ChildPermissionOptions {
  /** Withdraws the question. */
  readonly signal: AbortSignal;
  /** Whether a rule of the agent's own wants a person, as an mm says. @default {false} */
  readonly mustAsk?: boolean;
}

/** What a session of an mm that this mm starts for a subagent begins with, beside the protocol. */
export interface ChildOpening {
  /** Whether the child saves the conversation. @default {true, where the child saves any} */
  readonly save?: boolean;
  /**
   * What to use in place of the configured: this model, where one is named, with this reasoning effort,
   * without one the model's own.
   */
  readonly settings?: ModelSettings;
  /** MCP servers besides those of the configuration. */
  readonly mcpServers?: readonly McpServerConfig[];
  /** Present for a fork. */
  readonly fork?: ForkOpening;
}

/** What makes a session a fork of another conversation, whose history is loaded. */
export interface ForkOpening {
  /** The system prompt of the other conversation, whole. */
  readonly system: string;
  /** The tools that are declared to the model, exactly as the other conversation declares them. */
  readonly tools: readonly ToolDeclaration[];
  /** Names and patterns of the tools that may run; absent for all. */
  readonly allow?: readonly string[];
  /**
   * The call of the other conversation that made the fork, as its model named it: the first prompt is
   * its result. Absent where the history is closed and the first prompt is an ordinary one.
   */
  readonly callId?: string;
  /** The files that the other conversation has read: what it knows of them, the fork knows. */
  readonly files?: readonly SeenFile[];
}

/** A session of an asked agent. */
export interface ChildSession {
  readonly id: string;
  /** `provider/model`, where the agent told it with the session. */
  readonly label: string | undefined;
  /** Tokens of the agent's window, where it told them with the session. */
  readonly window: number | undefined;
  /** @throws {ChildError} when the agent answers with an error. */
  prompt(text: string, options: ChildPromptOptions): Promise<ChildReply>;
  /**
   * Says something to the agent while it works: it reads it after its next tool calls. Never rejects.
   *
   * @returns whether the agent will read it in the prompt that runs; false for an agent that cannot.
   */
  steer(text: string): Promise<boolean>;
  /** Ends the session, where the agent supports it; never throws, waits at most a second. */
  close(): Promise<void>;
}

/** Options of {@linkcode ChildConnection.newSession}. */
export interface OpenSessionOptions {
  /** Absolute. */
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** For an mm that this mm started; absent for any other agent. */
  readonly opening?: ChildOpening;
}

/** A connection to the process of an asked agent. */
export interface ChildConnection {
  /** What the agent calls itself, where it does. */
  readonly title: string | undefined;
  /** Settles when the connection is gone. */
  readonly closed: Promise<void>;
  /**
   * Opens a session in a directory.
   *
   * @throws {ChildError} when the agent refuses.
   */
  newSession(options: OpenSessionOptions): Promise<ChildSession>;
  /**
   * Goes on with a session that the agent saved.
   *
   * @throws {ChildError} when the agent refuses, or cannot.
   */
  loadSession(options: OpenSessionOptions & { readonly id: string }): Promise<ChildSession>;
  /** Closes the connection; pending calls reject. */
  close(): void;
}

/** The streams of a child process: bytes to its stdin, bytes from its stdout. */
export interface ChildStreams {
  readonly stdin: WritableStream<Uint8Array>;
  readonly stdout: ReadableStream<Uint8Array>;
}

/**
 * Opens the protocol on a child's streams and says hello.
 *
 * @throws {ChildError} when what answers does not speak it, or speaks another version.
 */
export type ConnectChild = (
  streams: ChildStreams,
  options: { readonly signal: AbortSignal },
) => Promise<ChildConnection>;

/** What kind of failure a {@linkcode ChildError} is. */
export type ChildErrorKind = "protocol" | "agent" | "closed";

/** An asked agent that answered with an error, not in its protocol, or not at all. */
export class ChildError extends Error {
  /**
   * `protocol`: it speaks no ACP or another version; `agent`: it said that something failed;
   * `closed`: the connection was lost before it answered.
   */
  readonly kind: ChildErrorKind;

  /** Creates the error from the agent's own words, without secrets. */
  constructor(kind: ChildErrorKind, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.name = "ChildError";
    this.kind = kind;
  }
}
