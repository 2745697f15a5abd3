/**
 * An ask whose work is shown: events to the front end of who asks, questions to its gate.
 *
 * @module
 */
import type { Emit } from "../engine/events.ts";
import type { Gate } from "../gate/gate.ts";
import type { AskResult } from "./ask.ts";
import { AskRelay } from "./ask_relay.ts";
import type { AgentPool, PoolAskOptions } from "./pool.ts";

/** Options of {@linkcode relayedAsk}. */
export interface RelayedAskOptions extends
  Pick<
    PoolAskOptions,
    "agent" | "prompt" | "cwd" | "signal" | "silenceMs" | "onQueued" | "onBusy"
  > {
  readonly pool: AgentPool;
  readonly gate: Gate;
  readonly emit: Emit;
  /** Whether gated calls of the agent that asks run without a question. */
  readonly yolo: () => boolean;
  /** The `ask_agent` call this ask is, and how its words are shown there. */
  readonly call?: {
    readonly id: string;
    readonly output: (text: string, options?: { readonly thought?: boolean }) => void;
    /** Told of each thing the asked agent does. */
    readonly alive: () => void;
    /** Stops the turn's watchdog until the returned function is called. */
    readonly pauseWatchdog: () => () => void;
  };
}

/** Asks and shows the work. Never rejects: every failure is an end. */
export async function relayedAsk(options: RelayedAskOptions): Promise<AskResult> {
  const { agent, pool, emit, call } = options;
  const askId = crypto.randomUUID();
  const relay = new AskRelay({
    agent,
    emit,
    gate: options.gate,
    yolo: () => pool.yolo(agent, options.yolo()),
    cwd: pool.entry(agent)?.cwd ?? options.cwd,
    ...(call === undefined ? {} : { callId: call.id, output: call.output }),
  });
  const title = pool.title(agent);
  emit({
    type: "ask_start",
    askId,
    agent,
    title,
    ...(call === undefined ? {} : { callId: call.id }),
  });
  const result = await pool.ask({
    ...options,
    onUpdate: (update) => {
      call?.alive();
      relay.update(update);
    },
    onPermission: async (childCall, permission) => {
      // While a person is asked, the turn's watchdog waits as it does for the agent's own calls.
      const resume = call?.pauseWatchdog();
      try {
        return await relay.permission(childCall, permission);
      } finally {
        resume?.();
      }
    },
  });
  relay.close();
  const { end, label } = result;
  emit({ type: "ask_end", askId, agent, end, ...(label === undefined ? {} : { label }) });
  return result;
}
