/**
 * What an asked agent does, as events of the agent that asks, and its permission questions as
 * questions of that agent's gate.
 *
 * @module
 */
import type { ToolCallView, ToolStatus } from "../base/tool_call.ts";
import type { Emit } from "../engine/events.ts";
import type { Gate } from "../gate/gate.ts";
import type { PermissionAnswer } from "../gate/question.ts";
import { wholeCall } from "./child_call.ts";
import type { ChildCallPart, ChildPermissionOptions, ChildUpdate } from "./child_connection.ts";

/** Options of {@linkcode AskRelay}. */
export interface AskRelayOptions {
  readonly agent: string;
  readonly emit: Emit;
  readonly gate: Gate;
  /** Whether the asked agent's gated calls run without a question. */
  readonly yolo: () => boolean;
  /** The directory the asked agent works in, absolute. */
  readonly cwd: string;
  /** The run in the background that asks; absent for the work of a turn. */
  readonly taskId?: string;
  /** The `ask_agent` call; absent for an ask that a person typed. */
  readonly callId?: string;
  /** Shows words of the agent inside the call; present with `callId`. */
  readonly output?: (text: string, options?: { readonly thought?: boolean }) => void;
}

/** Relays one ask. */
export class AskRelay {
  readonly #options: AskRelayOptions;
  /** Ids of an agent's calls are its own affair; here each gets one that is unique in this process. */
  readonly #prefix = `ask_${crypto.randomUUID()}`;
  readonly #calls = new Map<
    string,
    { readonly said: ChildCallPart; readonly view: ToolCallView; status: ToolStatus }
  >();
  #messages = 0;
  #lastMessage: string | undefined;

  /** Creates the relay of one ask. */
  constructor(options: AskRelayOptions) {
    this.#options = options;
  }

  /** Passes an update on. */
  update(update: ChildUpdate): void {
    const { emit } = this.#options;
    switch (update.type) {
      case "text":
      case "thought":
        return this.#words(update);
      case "tool_call":
        this.#announce(update.call);
        if (update.status !== "pending") {
          emit({ type: "tool_update", callId: this.#id(update.call.id), status: update.status });
          this.#reached(update.call.id, update.status);
        }
        return;
      case "tool_update":
        return this.#callUpdate(update);
      case "notice":
        return this.#notice(update);
      case "usage":
      case "other":
        return;
    }
  }

  /**
   * Decides a permission question of the asked agent. What counts is the call as the question has it,
   * whatever was announced before under its id.
   */
  async permission(
    call: ChildCallPart,
    options: ChildPermissionOptions,
  ): Promise<PermissionAnswer> {
    const { agent, gate, yolo, cwd, taskId } = this.#options;
    const view = this.#announce(call);
    const owner = view.name.slice(0, view.name.lastIndexOf("/")) || agent;
    const decision = await gate.decide(
      {
        view,
        agent: owner,
        gated: true,
        yolo: yolo(),
        cwd,
        ...(taskId === undefined ? {} : { taskId }),
        ...(options.mustAsk === true ? { mustAsk: true } : {}),
      },
      options,
    );
    if (decision.allowed) return { kind: "allow_once" };
    switch (decision.why) {
      case "cancelled":
        return { kind: "cancelled" };
      case "rejected":
        return { kind: "reject_once" };
      case "denied":
      case "unavailable":
        return { kind: "unavailable", reason: decision.reason };
    }
  }

  /** Calls the agent left open are over with it. */
  close(): void {
    for (const [id, { view }] of this.#calls) {
      this.#options.emit({ type: "tool_update", callId: view.id, status: "failed" });
      this.#calls.delete(id);
    }
  }

  #words(update: ChildUpdate & { type: "text" | "thought" }): void {
    const { agent, emit, output } = this.#options;
    const { type, text } = update;
    if (output !== undefined) return output(text, { thought: type === "thought" });
    const own = `${type} ${update.messageId ?? ""}`;
    if (own !== this.#lastMessage) {
      this.#lastMessage = own;
      this.#messages++;
    }
    emit({ type, messageId: `${this.#prefix}_${this.#messages}`, text, agent });
  }

  /** What the agent waits for is what who asks it waits for. */
  #notice({ severity, text }: ChildUpdate & { type: "notice" }): void {
    const { agent, emit, callId } = this.#options;
    emit({
      type: "notice",
      severity,
      text: `${agent}: ${text}`,
      ...(callId === undefined ? {} : { callId }),
    });
  }

  #callUpdate(update: ChildUpdate & { type: "tool_update" }): void {
    const { emit } = this.#options;
    const before = this.#calls.get(update.callId);
    // An update of a call that was never announced, or is over: nothing to show it on.
    if (before === undefined) return;
    const known = this.#keep({ ...update.call, id: update.callId });
    const { text, call: { title, kind, input, diffs, locations } } = update;
    const more = title !== undefined || kind !== undefined || input !== undefined;
    if (update.status === undefined && text === undefined && !more) return;
    const status = update.status ?? (text === undefined ? before.status : "in_progress");
    emit({
      type: "tool_update",
      callId: known.id,
      status,
      ...(more ? { call: known } : {}),
      ...(text === undefined ? {} : { text }),
      ...(diffs === undefined || update.status === undefined ? {} : { diffs }),
      ...(locations === undefined || update.status === undefined ? {} : { locations }),
    });
    this.#reached(update.callId, status);
  }

  /** A call that is over has no further end. */
  #reached(id: string, status: ToolStatus): void {
    const call = this.#calls.get(id);
    if (call === undefined) return;
    call.status = status;
    if (status === "completed" || status === "failed") this.#calls.delete(id);
  }

  #announce(call: ChildCallPart): ToolCallView {
    const known = this.#calls.has(call.id);
    const view = this.#keep(call);
    if (known) return view;
    this.#lastMessage = undefined;
    this.#options.emit({ type: "tool_call", call: view });
    return view;
  }

  /** Notes what the agent says of a call; what it leaves out is as before. */
  #keep(part: ChildCallPart): ToolCallView {
    const { agent, callId } = this.#options;
    const said = { ...this.#calls.get(part.id)?.said, ...part };
    const call = wholeCall(said);
    const parent = call.parentId === undefined || call.parentId === call.id
      ? undefined
      : this.#calls.get(call.parentId)?.view.id;
    const parentId = parent ?? callId;
    const view: ToolCallView = {
      ...call,
      id: this.#id(call.id),
      name: `${agent}/${call.name}`,
      ...(parentId === undefined ? {} : { parentId }),
    };
    const { status = "pending" } = this.#calls.get(call.id) ?? {};
    this.#calls.set(call.id, { said, view, status });
    return view;
  }

  #id(id: string): string {
    return `${this.#prefix}_${id}`;
  }
}
