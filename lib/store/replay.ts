/**
 * What people saw of a saved conversation, as events for a front end.
 *
 * @module
 */
import type { EngineEvent } from "../engine/events.ts";
import type { SavedEvent } from "./record.ts";
import { INTERRUPTED } from "./repair_history.ts";

/** How much is shown again: everything; the last prompts without thoughts and notices; nothing. */
export type Replay = "full" | "compact" | "none";

/** Prompts that a compact replay shows. */
const COMPACT_PROMPTS = 20;

/**
 * Yields the events in order. Ids are new ones, for those of the process that wrote them mean nothing
 * here; calls and asks that were cut off are ended.
 */
export function* replayEvents(
  saved: readonly SavedEvent[],
  replay: Replay,
): Generator<EngineEvent> {
  if (replay === "none") return;
  const compact = replay === "compact";
  const first = compact ? firstShown(saved) : 0;
  if (first > 0) {
    const prompts = saved.slice(0, first).filter((event) => event.type === "user").length;
    yield {
      type: "notice",
      severity: "info",
      text: `[${prompts} earlier ${prompts === 1 ? "prompt is" : "prompts are"} not shown]`,
    };
  }
  const ids = new Renaming();
  for (let at = first; at < saved.length; at++) {
    const event = saved[at];
    if (event === undefined) continue;
    if (event.type === "user") yield* ids.endOpen();
    if (compact && (event.type === "thought" || event.type === "notice")) continue;
    const renamed = ids.rename(event);
    if (renamed !== undefined) yield renamed;
  }
  yield* ids.endOpen();
}

/** Where the last prompts of a conversation begin. */
function firstShown(saved: readonly SavedEvent[]): number {
  let prompts = 0;
  for (let at = saved.length - 1; at > 0; at--) {
    if (saved[at]?.type === "user" && ++prompts === COMPACT_PROMPTS) return at;
  }
  return 0;
}

/** Gives ids of this process, and knows what is open. */
class Renaming {
  readonly #messages = new Map<string, string>();
  readonly #calls = new Map<string, string>();
  readonly #asks = new Map<string, string>();
  readonly #openCalls = new Set<string>();
  readonly #openAsks = new Map<string, { readonly agent: string }>();

  /** Returns the event under new ids, or `undefined` for one about something that was never shown. */
  rename(event: SavedEvent): EngineEvent | undefined {
    switch (event.type) {
      case "user":
      case "text":
      case "thought":
        return { ...event, messageId: renamed(this.#messages, event.messageId) };
      case "notice":
      case "plan":
        return event;
      case "tool_call": {
        const { parentId, ...call } = event.call;
        const id = `call_${crypto.randomUUID()}`;
        this.#calls.set(call.id, id);
        this.#openCalls.add(id);
        const parent = parentId === undefined ? undefined : this.#calls.get(parentId);
        return {
          type: "tool_call",
          call: { ...call, id, ...(parent === undefined ? {} : { parentId: parent }) },
        };
      }
      case "tool_update": {
        const callId = this.#calls.get(event.callId);
        if (callId === undefined || !this.#openCalls.delete(callId)) return undefined;
        return { ...event, callId };
      }
      case "ask_start": {
        const { callId, ...ask } = event;
        const askId = crypto.randomUUID();
        this.#asks.set(event.askId, askId);
        this.#openAsks.set(askId, event);
        const call = callId === undefined ? undefined : this.#calls.get(callId);
        // Without its call it would be shown as one that a person typed.
        if (callId !== undefined && call === undefined) return undefined;
        return { ...ask, askId, ...(call === undefined ? {} : { callId: call }) };
      }
      case "ask_end": {
        const askId = this.#asks.get(event.askId);
        if (askId === undefined || !this.#openAsks.delete(askId)) return undefined;
        return { ...event, askId };
      }
    }
  }

  /** Ends what was cut off. */
  *endOpen(): Generator<EngineEvent> {
    for (const callId of this.#openCalls) {
      yield { type: "tool_update", callId, status: "failed", text: INTERRUPTED };
    }
    for (const [askId, { agent }] of this.#openAsks) {
      yield { type: "ask_end", askId, agent, end: { kind: "cancelled" } };
    }
    this.#openCalls.clear();
    this.#openAsks.clear();
    this.#messages.clear();
    this.#calls.clear();
    this.#asks.clear();
  }
}

function renamed(names: Map<string, string>, name: string): string {
  const known = names.get(name);
  if (known !== undefined) return known;
  const fresh = crypto.randomUUID();
  names.set(name, fresh);
  return fresh;
}
