/**
 * The tool calls of a session as updates: announced, fed with output at a bearable pace, ended.
 *
 * @module
 */
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import type { FileDiff, ToolCallView, ToolStatus } from "../base/tool_call.ts";
import type { EngineEvent } from "../engine/events.ts";
import { CallOutput } from "./call_output.ts";
import { shownCall, shownContent, shownLocations } from "./call_view.ts";
import { boundTitle } from "./limits.ts";
import { TerminalCall } from "./terminal_call.ts";

/** Milliseconds between two updates of one call's output: each carries all that is shown of it. */
const OUTPUT_INTERVAL_MS = 100;

/** The tool whose calls are terminals. Those of asked agents have their output as text. */
const TERMINAL_TOOL = "bash";

/** Options of {@linkcode CallUpdates}. */
export interface CallUpdatesOptions {
  readonly send: (update: SessionUpdate) => void;
  /**
   * The directory of commands, for a client that draws terminals: see {@linkcode TerminalCall}.
   * @default {their output is sent as text}
   */
  readonly terminals?: string;
}

type EventOf<Type extends EngineEvent["type"]> = Extract<EngineEvent, { type: Type }>;

/** A call that has not ended. */
interface OpenCall {
  view: ToolCallView;
  title: string;
  status: ToolStatus;
  diffs: readonly FileDiff[] | undefined;
  output?: CallOutput;
  /** The command's terminal, where it has one; it then has no other output. */
  readonly terminal?: TerminalCall;
}

/** Sends the updates about the calls of one session. */
export class CallUpdates {
  readonly #send: (update: SessionUpdate) => void;
  readonly #terminals: string | undefined;
  readonly #open = new Map<string, OpenCall>();
  /** Calls whose last output was not sent yet. */
  readonly #due = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Creates the sender. */
  constructor(options: CallUpdatesOptions) {
    this.#send = options.send;
    this.#terminals = options.terminals;
  }

  /** Announces a call. */
  announce(view: ToolCallView): void {
    const shown = shownCall(view);
    const call: OpenCall = { view, title: shown.title, status: "pending", diffs: view.diffs };
    if (this.#terminals === undefined || view.name !== TERMINAL_TOOL) {
      this.#open.set(view.id, call);
      return this.#send({ sessionUpdate: "tool_call", ...shown, status: "pending" });
    }
    const terminal = new TerminalCall(view.id, this.#terminals);
    this.#open.set(view.id, { ...call, terminal });
    this.#send({
      sessionUpdate: "tool_call",
      ...shown,
      status: "pending",
      content: terminal.content(),
      _meta: { ...shown._meta, ...terminal.info() },
    });
  }

  /** Reports the state of a call; at its end with everything that is shown of it. */
  update(event: EventOf<"tool_update">): void {
    const { callId, status, text, diffs, locations } = event;
    const call = this.#open.get(callId);
    const ran = call?.status === "in_progress" || event.exit !== undefined;
    const more = event.call === undefined ? undefined : shownCall(event.call);
    if (call !== undefined) {
      call.status = status;
      call.diffs = diffs ?? call.diffs;
      call.view = event.call ?? call.view;
      call.title = more?.title ?? call.title;
    }
    this.#due.delete(callId);
    if (call?.terminal !== undefined && (ran || status === "in_progress")) {
      return this.#updateTerminal(call.terminal, event);
    }
    const content = shownContent({
      kind: call?.view.kind ?? "other",
      diffs: call?.diffs ?? diffs,
      text: text ?? call?.output?.text() ?? "",
    });
    const places = shownLocations(locations);
    this.#send({
      sessionUpdate: "tool_call_update",
      toolCallId: callId,
      status,
      ...(more === undefined
        ? {}
        : { title: more.title, kind: more.kind, rawInput: more.rawInput, _meta: more._meta }),
      ...(content.length === 0 ? {} : { content }),
      ...(places.length === 0 ? {} : { locations: places }),
    });
    if (status === "completed" || status === "failed") this.#open.delete(callId);
  }

  /** Takes a piece of a running call's output. */
  output(event: EventOf<"tool_output">): void {
    const call = this.#open.get(event.callId);
    if (call === undefined) return;
    if (call.terminal !== undefined) {
      call.terminal.append(event.text);
    } else {
      call.output ??= new CallOutput();
      call.output.append(event.text, event.thought ?? false);
    }
    this.#due.add(event.callId);
    if (this.#timer === undefined) this.#flush();
  }

  /** Adds to the title of a running call. */
  retitle(callId: string, addition: string): void {
    const call = this.#open.get(callId);
    if (call === undefined) return;
    const title = boundTitle(`${call.title} (${addition})`);
    this.#send({ sessionUpdate: "tool_call_update", toolCallId: callId, title });
  }

  /** Sends what is due and ends every call that is still open. */
  end(): void {
    for (const [callId, call] of [...this.#open]) {
      const output = call.output?.text() ?? "";
      const text = `${output}${output === "" ? "" : "\n\n"}The call did not finish.`;
      this.update({ type: "tool_update", callId, status: "failed", text });
    }
    this.close();
  }

  /** Stops the timer. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#due.clear();
  }

  #updateTerminal(terminal: TerminalCall, event: EventOf<"tool_update">): void {
    const { callId, status, text = "", exit, locations } = event;
    const ended = status === "completed" || status === "failed";
    const places = shownLocations(locations);
    const { terminal_exit, ...output } = ended ? terminal.exit(text, exit) : {};
    if (Object.keys(output).length > 0) {
      this.#send({ sessionUpdate: "tool_call_update", toolCallId: callId, _meta: output });
    }
    this.#send({
      sessionUpdate: "tool_call_update",
      toolCallId: callId,
      status,
      // A permission question may have shown the whole command in its place.
      content: terminal.content(),
      ...(places.length === 0 ? {} : { locations: places }),
      ...(ended ? { _meta: { terminal_exit } } : {}),
    });
    if (ended) this.#open.delete(callId);
  }

  #sendOutput(callId: string, terminal: TerminalCall): void {
    const output = terminal.output();
    if (output === undefined) return;
    this.#send({ sessionUpdate: "tool_call_update", toolCallId: callId, _meta: output });
  }

  #flush(): void {
    this.#timer = undefined;
    if (this.#due.size === 0) return;
    for (const callId of this.#due) {
      const call = this.#open.get(callId);
      if (call === undefined) continue;
      if (call.terminal !== undefined) {
        this.#sendOutput(callId, call.terminal);
        continue;
      }
      const text = call.output?.text() ?? "";
      this.#send({
        sessionUpdate: "tool_call_update",
        toolCallId: callId,
        content: shownContent({ kind: call.view.kind, diffs: call.diffs, text }),
      });
    }
    this.#due.clear();
    this.#timer = setTimeout(() => this.#flush(), OUTPUT_INTERVAL_MS);
  }
}
