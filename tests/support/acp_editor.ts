/**
 * An editor as `mm -acp` meets it: JSON-RPC lines over stdio, written by hand and not with the SDK,
 * so that faults on the wire are seen.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { bounded, DEFAULT_WAIT_MS } from "./bounded.ts";
import type { MmProcess } from "./mm.ts";

/** A value of JSON, read freely by tests. */
// deno-lint-ignore no-explicit-any
export type Json = any;

/** An update of a session. */
export interface SessionUpdate {
  readonly sessionId: string;
  /** The kind: `agent_message_chunk`, `tool_call`, … */
  readonly kind: string;
  /** The update as it came. */
  readonly update: Json;
}

/** A question for permission. */
export interface PermissionRequest {
  readonly id: string | number;
  readonly sessionId: string;
  readonly toolCall: Json;
  readonly options: readonly { readonly optionId: string; readonly kind: string }[];
  /** Answers with the option of a kind: `allow_once`, `allow_always`, `reject_once`, … */
  choose(kind: string): void;
  /** Answers that the turn was cancelled. */
  cancel(): void;
  /** Answers with anything, to see what mm makes of it. */
  answer(result: Json): void;
  readonly answered: boolean;
}

/** An error that mm answered with. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: Json;

  /** Creates the error from the answer's `error` member. */
  constructor(method: string, error: Json) {
    super(`${method}: ${error.message} (${error.code}) ${JSON.stringify(error.data ?? null)}`);
    this.name = "RpcError";
    this.code = error.code;
    this.data = error.data;
  }
}

/** Options of {@linkcode AcpEditor}. */
export interface AcpEditorOptions {
  /** Working directory of new sessions. */
  readonly cwd: string;
  /** @default {{ fs: neither, terminal: false }} */
  readonly capabilities?: Json;
}

interface Pending {
  readonly method: string;
  readonly sessionId: string | undefined;
  readonly resolve: (result: Json) => void;
  readonly reject: (error: Error) => void;
}

/** Kinds of answer the editor can give by itself. */
export type PermissionPolicy =
  | "manual"
  | "allow_once"
  | "allow_always"
  | "reject_once"
  | ((request: PermissionRequest) => void);

/** A client of one `mm -acp`. */
export class AcpEditor {
  readonly mm: MmProcess;
  /** Every update of every session, in order. */
  readonly updates: SessionUpdate[] = [];
  /** Every permission question, in order. */
  readonly permissions: PermissionRequest[] = [];
  /** How permission questions are answered; `manual` leaves them to the test. */
  onPermission: PermissionPolicy = "manual";
  /**
   * Answers other requests of mm, by method and parameters: with a result, or never where the promise
   * stays open. `undefined` is "method not found".
   */
  onOtherRequest: (method: string, params: Json) => Promise<Json> | undefined = () => undefined;
  readonly #options: AcpEditorOptions;
  readonly #pending = new Map<string, Pending>();
  readonly #lookAgain = new Set<() => void>();
  readonly #faults: string[] = [];
  /** Sessions mm told of, and those whose updates may come now, by running request. */
  readonly #known = new Set<string>();
  readonly #busy: string[] = [];
  /** The beginning of a line whose end has not come. */
  #rest: Uint8Array = new Uint8Array();
  #gone: Error | undefined;
  #nextId = 1;

  /** Begins to read what mm says; {@linkcode AcpEditor.initialize} comes next. */
  constructor(mm: MmProcess, options: AcpEditorOptions) {
    this.mm = mm;
    this.#options = options;
    mm.onOutput("stdout", (bytes) => this.#read(bytes));
    mm.waitForEnd().then(
      () => this.#giveUp(`mm ended. ${mm.report()}`),
      (error: Error) => this.#giveUp(`mm could not be started: ${error.message}`),
    );
  }

  /** Says hello; returns mm's answer. */
  initialize(params: Json = {}): Promise<Json> {
    const capabilities = this.#options.capabilities ??
      { fs: { readTextFile: false, writeTextFile: false }, terminal: false };
    return this.request("initialize", {
      protocolVersion: 1,
      clientCapabilities: capabilities,
      clientInfo: { name: "test-editor", version: "1" },
      ...params,
    });
  }

  /** Opens a session; returns its id. */
  async newSession(params: Json = {}): Promise<string> {
    const result = await this.request("session/new", {
      cwd: this.#options.cwd,
      mcpServers: [],
      ...params,
    });
    return result.sessionId as string;
  }

  /** Says hello and opens a session; returns its id. */
  async start(): Promise<string> {
    await this.initialize();
    return await this.newSession();
  }

  /** Sends a prompt; returns mm's answer, `{stopReason}`. */
  prompt(sessionId: string, prompt: string | readonly Json[]): Promise<Json> {
    const blocks = typeof prompt === "string" ? [{ type: "text", text: prompt }] : prompt;
    return this.request("session/prompt", { sessionId, prompt: blocks });
  }

  /** Cancels what a session does. */
  cancel(sessionId: string): void {
    this.notify("session/cancel", { sessionId });
  }

  /**
   * Sends a request and returns the result.
   *
   * @throws {RpcError} when mm answers with an error.
   * @throws {Error} when mm ends first, breaks the wire format, or does not answer in time (20 s).
   */
  request(
    method: string,
    params?: Json,
    options: { readonly timeoutMs?: number } = {},
  ): Promise<Json> {
    const id = this.#nextId++;
    const { promise, resolve, reject } = Promise.withResolvers<Json>();
    const sessionId = params?.sessionId;
    this.#pending.set(String(id), { method, sessionId, resolve, reject });
    if (this.#gone !== undefined) reject(this.#gone);
    if (sessionId !== undefined) {
      this.#known.add(sessionId);
      this.#busy.push(sessionId);
    }
    this.send({ jsonrpc: "2.0", id, method, params });
    return bounded(
      promise,
      options.timeoutMs ?? DEFAULT_WAIT_MS,
      () => `"${method}" was not answered. ${this.mm.report()}`,
    );
  }

  /** Sends a notification. */
  notify(method: string, params?: Json): void {
    this.send({ jsonrpc: "2.0", method, params });
  }

  /** Sends any message. */
  send(message: Json): void {
    this.sendRaw(`${JSON.stringify(message)}\n`);
  }

  /** Sends any bytes. */
  sendRaw(text: string | Uint8Array): void {
    this.mm.write(text);
  }

  /** The answer text of a session so far: all its `agent_message_chunk`s. */
  text(sessionId: string): string {
    return this.#textOf(sessionId, "agent_message_chunk");
  }

  /** The thoughts of a session so far. */
  thoughts(sessionId: string): string {
    return this.#textOf(sessionId, "agent_thought_chunk");
  }

  /** The updates of one kind of a session. */
  updatesOf(sessionId: string, kind: string): Json[] {
    return this.updates.filter((u) => u.sessionId === sessionId && u.kind === kind)
      .map((u) => u.update);
  }

  /**
   * The tool calls of a session, in the order they were announced, each with every field as the last
   * update left it.
   */
  toolCalls(sessionId: string): Json[] {
    const calls = new Map<string, Json>();
    for (const { sessionId: id, kind, update } of this.updates) {
      if (id !== sessionId || (kind !== "tool_call" && kind !== "tool_call_update")) continue;
      const { sessionUpdate: _, ...fields } = update;
      calls.set(update.toolCallId, { ...calls.get(update.toolCallId), ...fields });
    }
    return [...calls.values()];
  }

  /** Waits for an update that matches, one that already came included. */
  waitForUpdate(
    matches: (update: SessionUpdate) => boolean,
    options: { readonly timeoutMs?: number } = {},
  ): Promise<SessionUpdate> {
    return this.#waitFor(() => this.updates.find(matches), "No such update came", options);
  }

  /** Waits until the answer text of a session contains `text`. */
  async waitForText(sessionId: string, text: string): Promise<void> {
    await this.#waitFor(
      () => this.text(sessionId).includes(text) || undefined,
      `The answer did not contain ${JSON.stringify(text)}`,
      {},
    );
  }

  /** Waits for a permission question that is not answered yet. */
  waitForPermission(
    matches: (request: PermissionRequest) => boolean = () => true,
    options: { readonly timeoutMs?: number } = {},
  ): Promise<PermissionRequest> {
    return this.#waitFor(
      () => this.permissions.find((p) => !p.answered && matches(p)),
      "No such permission question came",
      options,
    );
  }

  #textOf(sessionId: string, kind: string): string {
    return this.updatesOf(sessionId, kind).map((u) => u.content?.text ?? "").join("");
  }

  #waitFor<T>(
    find: () => T | undefined,
    otherwise: string,
    options: { readonly timeoutMs?: number },
  ): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const look = () => {
      const found = find();
      if (found !== undefined) resolve(found);
      else if (this.#gone !== undefined) reject(this.#gone);
    };
    this.#lookAgain.add(look);
    look();
    return bounded(
      promise,
      options.timeoutMs ?? DEFAULT_WAIT_MS,
      () =>
        `${otherwise}. Updates: ${this.updates.map((u) => u.kind).join(", ")}\n${this.mm.report()}`,
    ).finally(() => this.#lookAgain.delete(look));
  }

  /**
   * Checks that all mm wrote was in order.
   *
   * @throws {Error} when stdout held anything but JSON-RPC lines, when an update came for a session
   * before its `session/new` was answered, or when content came after the answer to its prompt.
   */
  assertWire(): void {
    const faults = [...this.#faults];
    if (this.#rest.length > 0) {
      faults.push(`the last line has no end: ${JSON.stringify(decode(this.#rest))}`);
    }
    if (faults.length > 0) throw new Error(`Faults on the wire:\n  ${faults.join("\n  ")}`);
  }

  /** Takes the whole lines; splits at byte 0x0A and nowhere else. */
  #read(bytes: Uint8Array): void {
    let start = 0;
    for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, start)) {
      const line = Buffer.concat([this.#rest, bytes.subarray(start, end)]);
      this.#rest = new Uint8Array();
      start = end + 1;
      this.#take(decode(line));
    }
    this.#rest = Buffer.concat([this.#rest, bytes.subarray(start)]);
  }

  #take(line: string): void {
    let message: Json;
    try {
      message = JSON.parse(line);
      if (message?.jsonrpc !== "2.0") throw new Error("no jsonrpc");
    } catch {
      const fault = `stdout held a line that is no JSON-RPC message: ${JSON.stringify(line)}`;
      this.#faults.push(fault);
      this.#giveUp(fault);
      return;
    }
    if (message.method === undefined) this.#settle(message);
    else if (message.id === undefined) this.#notified(message);
    else this.#asked(message);
    for (const look of this.#lookAgain) look();
  }

  #settle(message: Json): void {
    const pending = this.#pending.get(String(message.id));
    if (pending === undefined) {
      // A null id answers something that could not be read; everything else was never asked.
      if (message.id !== null) this.#faults.push(`answer to nothing: ${JSON.stringify(message)}`);
      return;
    }
    this.#pending.delete(String(message.id));
    if (pending.sessionId !== undefined) {
      this.#busy.splice(this.#busy.indexOf(pending.sessionId), 1);
    }
    if (message.result?.sessionId !== undefined) this.#known.add(message.result.sessionId);
    if (message.error !== undefined) pending.reject(new RpcError(pending.method, message.error));
    else pending.resolve(message.result);
  }

  #notified(message: Json): void {
    if (message.method !== "session/update") return;
    const { sessionId, update } = message.params;
    const kind: string = update.sessionUpdate;
    this.updates.push({ sessionId, kind, update });
    if (!this.#known.has(sessionId)) {
      this.#faults.push(`"${kind}" came before the answer to session/new`);
    } else if (CONTENT_KINDS.has(kind) && !this.#busy.includes(sessionId)) {
      this.#faults.push(`"${kind}" came while no request of its session was open`);
    }
  }

  #asked(message: Json): void {
    const reply = (body: Json) => this.send({ jsonrpc: "2.0", id: message.id, ...body });
    if (message.method !== "session/request_permission") {
      const answer = this.onOtherRequest(message.method, message.params);
      if (answer !== undefined) return void answer.then((result) => reply({ result }));
      reply({ error: { code: -32601, message: `Method not found: ${message.method}` } });
      return;
    }
    const request = permissionRequest(message, (result) => reply({ result }));
    this.permissions.push(request);
    if (typeof this.onPermission === "function") this.onPermission(request);
    else if (this.onPermission !== "manual") request.choose(this.onPermission);
  }

  /** Ends every wait: mm is gone, or cannot be trusted to speak the protocol. */
  #giveUp(why: string): void {
    this.#gone ??= new Error(why);
    for (const { reject } of this.#pending.values()) reject(this.#gone);
    this.#pending.clear();
    for (const look of this.#lookAgain) look();
  }
}

/** Updates that belong to a turn (or a replay), and to no time in between. */
const CONTENT_KINDS = new Set([
  "agent_message_chunk",
  "agent_thought_chunk",
  "user_message_chunk",
  "tool_call",
  "tool_call_update",
  "plan",
]);

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function permissionRequest(message: Json, send: (result: Json) => void): PermissionRequest {
  const { sessionId, toolCall, options } = message.params;
  let answered = false;
  const answer = (result: Json) => {
    if (answered) throw new Error("The permission question was answered before");
    answered = true;
    send(result);
  };
  return {
    id: message.id,
    sessionId,
    toolCall,
    options,
    get answered() {
      return answered;
    },
    answer,
    cancel: () => answer({ outcome: { outcome: "cancelled" } }),
    choose: (kind) => {
      const option = options.find((o: { kind: string }) => o.kind === kind);
      if (option === undefined) {
        throw new Error(`No option of kind "${kind}" in ${JSON.stringify(options)}`);
      }
      answer({ outcome: { outcome: "selected", optionId: option.optionId } });
    },
  };
}
