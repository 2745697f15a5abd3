/**
 * Asked agents that are played in the process of the test: they answer, fail, refuse, die.
 *
 * @module
 */
import {
  type ChildConnection,
  ChildError,
  type ChildPromptOptions,
  type ChildReply,
} from "../../lib/agents/child_connection.ts";
import type { AgentPoolOptions } from "../../lib/agents/pool.ts";
import type { AgentEntry } from "../../lib/config/types.ts";
import type { Child, ProcessEnd } from "../../lib/platform/process.ts";
import type { Random } from "./random.ts";

/** Returns what a pool of played agents is made of. */
export function createPoolOptions(
  entries: readonly AgentEntry[],
  random: Random,
): AgentPoolOptions {
  let last: PlayedChild | undefined;
  return {
    entries,
    depth: 0,
    env: {},
    self: ["mm"],
    start: () => {
      if (random.chance(0.05)) return Promise.reject(new Error("no such program"));
      last = new PlayedChild();
      return Promise.resolve(last);
    },
    connect: () => {
      const child = last;
      if (child === undefined || random.chance(0.03)) {
        return Promise.reject(new ChildError("protocol", "it speaks no ACP"));
      }
      return Promise.resolve(connection(child, random));
    },
    redact: (text) => text,
    silenceMs: 5000,
    callBudgetMs: 5000,
  };
}

class PlayedChild implements Child {
  readonly pid = 1;
  readonly stdin = new WritableStream<Uint8Array>();
  readonly stdout = new ReadableStream<Uint8Array>();
  readonly #end = Promise.withResolvers<ProcessEnd>();

  get ended(): Promise<ProcessEnd> {
    return this.#end.promise;
  }

  stderrTail(): string {
    return "";
  }

  stop(): Promise<ProcessEnd> {
    this.kill();
    return this.ended;
  }

  kill(): void {
    this.#end.resolve({ code: 1, signal: null });
  }
}

function connection(child: PlayedChild, random: Random): ChildConnection {
  const closed = child.ended.then(() => {});
  const open = () =>
    random.chance(0.03)
      ? Promise.reject(new ChildError("agent", "no session today"))
      : Promise.resolve({
        id: "s",
        label: "played/bob",
        window: undefined,
        prompt: (_text: string, options: ChildPromptOptions) => answer(child, random, options),
        steer: () => Promise.resolve(random.chance(0.5)),
        close: () => Promise.resolve(),
      });
  return {
    title: "Bob",
    closed,
    loadSession: open,
    newSession: open,
    close: () => {},
  };
}

type How = "end_turn" | "max_tokens" | "refusal" | "odd" | "error" | "death";

async function answer(
  child: PlayedChild,
  random: Random,
  { signal, onUpdate }: ChildPromptOptions,
): Promise<ChildReply> {
  for (let pieces = random.whole(0, 3); pieces > 0; pieces--) {
    if (signal.aborted) return { stop: "cancelled" };
    onUpdate({ type: "text", messageId: "m", text: random.text(1, 400) });
    await Promise.resolve();
  }
  if (signal.aborted) return { stop: "cancelled" };
  const how = random.weighted<How>([
    [12, "end_turn"],
    [1, "max_tokens"],
    [1, "refusal"],
    [1, "odd"],
    [1, "error"],
    [1, "death"],
  ]);
  switch (how) {
    case "error":
      throw new ChildError("agent", "it failed");
    case "death":
      child.kill();
      throw new ChildError("closed", "the connection was lost");
    case "odd":
      return { stop: { unknown: "odd" } };
    case "end_turn":
    case "max_tokens":
    case "refusal":
      return { stop: how, label: "played/bob" };
  }
}
