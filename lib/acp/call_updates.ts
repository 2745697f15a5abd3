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

/** Milliseconds between two updates of one call's output: each carries all that is shown of it. */
const OUTPUT_INTERVAL_MS = 100;

/** Options of {@linkcode CallUpdates}. */
export interface CallUpdatesOptions {
  readonly send: (update: SessionUpdate) => void;
}

type EventOf<Type extends EngineEvent["type"]> = Extract<EngineEvent, { type: Type }>;

/** A call that has not ended. */
interface OpenCall {
  readonly view: ToolCallView;
  readonly title: string;
  status: ToolStatus;
  diffs: readonly FileDiff[] | undefined;
  output?: CallOutput;
}

/** Sends the updates about the calls of one session. */
export class CallUpdates {
  readonly #send: (update: SessionUpdate) => void;
  readonly #open = new Map<string, OpenCall>();
  /** Calls whose last output was not sent yet. */
  readonly #due = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Creates the sender. */
  constructor(options: CallUpdatesOptions) {
    this.#send = options.send;
  }

  /** Announces a call. */
  announce(view: ToolCallView): void {
    const shown = shownCall(view);
    this.#open.set(view.id, { view, title: shown.title, status: "pending", diffs: view.diffs });
    this.#send({ sessionUpdate: "tool_call", ...shown, status: "pending" });
  }

  /** Reports the state of a call; at its end with everything that is shown of it. */
  update(event: EventOf<"tool_update">): void {
    const { callId, status, text, diffs, locations } = event;
    const call = this.#open.get(callId);
    if (call !== undefined) {
      call.status = status;
      call.diffs = diffs ?? call.diffs;
    }
    this.#due.delete(callId);
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
      ...(content.length === 0 ? {} : { content }),
      ...(places.length === 0 ? {} : { locations: places }),
    });
    if (status === "completed" || status === "failed") this.#open.delete(callId);
  }

  /** Takes a piece of a running call's output. */
  output(event: EventOf<"tool_output">): void {
    const call = this.#open.get(event.callId);
    if (call === undefined) return;
    call.output ??= new CallOutput();
    call.output.append(event.text, event.thought ?? false);
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

  #flush(): void {
    this.#timer = undefined;
    if (this.#due.size === 0) return;
    for (const callId of this.#due) {
      const call = this.#open.get(callId);
      if (call === undefined) continue;
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
