/**
 * The agents that may be asked, with one child each, and the bound on asks at the same time.
 *
 * @module
 */
import { describeEnd, type End } from "../base/ends.ts";
import { didYouMean } from "../base/nearest.ts";
import type { AgentEntry } from "../config/types.ts";
import type { StartChild } from "../platform/process.ts";
import type { SelfCommand } from "../platform/runtime.ts";
import { ask, type AskOptions, type AskResult, type ResidentAskResult } from "./ask.ts";
import { CONNECT_TIMEOUT_MS, DEPTH_REASON, MAX_PARALLEL_ASKS, mayAsk } from "./ask_limits.ts";
import { ChildAgent, type ChildState } from "./child_agent.ts";
import type { ConnectChild } from "./child_connection.ts";
import { childEnvironment } from "./child_environment.ts";
import { Slots } from "./slots.ts";
import { callsRun } from "./yolo.ts";

/** What an mm without `acp.title` calls itself. */
const UNTITLED = "mm";

/** Options of {@linkcode AgentPool}. */
export interface AgentPoolOptions {
  readonly entries: readonly AgentEntry[];
  /** How deep this process is in a chain of asks. */
  readonly depth: number;
  /** This process's environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How this program is started again. */
  readonly self: SelfCommand;
  readonly start: StartChild;
  readonly connect: ConnectChild;
  /** Takes secrets out of what children write on stderr. */
  readonly redact: (text: string) => string;
  /** Longest silence of an agent whose entry sets none, in milliseconds. */
  readonly silenceMs: number;
  /** How long a tool call of an asked agent may run without a word, in milliseconds. */
  readonly callBudgetMs: number;
}

/** What an ask needs from who asks. */
export interface PoolAskOptions extends
  Pick<
    AskOptions,
    | "prompt"
    | "transcript"
    | "cwd"
    | "signal"
    | "onUpdate"
    | "onPermission"
    | "open"
    | "resident"
    | "keep"
    | "onSession"
  > {
  readonly agent: string;
  /**
   * Longest silence, in milliseconds, where the agent's entry sets none; absent for the pool's.
   * `Infinity` leaves it to who asks.
   */
  readonly silenceMs?: number;
  /** Told when the ask has to wait for others, with how many wait before it. */
  readonly onQueued?: (before: number) => void;
  /** Told `true` when silence is no sign of trouble (it waits, a tool call runs), then `false`. */
  readonly onBusy?: (busy: boolean) => void;
}

/** One agent, as `/agents` shows it. */
export interface AgentStatus {
  readonly name: string;
  readonly description: string | undefined;
  readonly state: ChildState;
  /** `provider/model`, once it is known. */
  readonly label: string | undefined;
  readonly lastFailure: string | undefined;
}

interface Member {
  readonly entry: AgentEntry;
  readonly child: ChildAgent;
  label?: string;
  /** Tokens. */
  window?: number;
  lastFailure?: string;
}

/** The agents one process may ask. */
export class AgentPool {
  readonly #options: AgentPoolOptions;
  readonly #members = new Map<string, Member>();
  readonly #slots = new Slots(MAX_PARALLEL_ASKS);

  /** Creates the pool; no child is started. */
  constructor(options: AgentPoolOptions) {
    this.#options = options;
    for (const entry of options.entries) {
      this.#members.set(entry.name, { entry, child: this.#childOf(entry) });
    }
  }

  /** Whether this process may ask anyone at all. */
  get mayAsk(): boolean {
    return this.#members.size > 0 && mayAsk(this.#options.depth);
  }

  /** Whether this process was itself asked. */
  get asked(): boolean {
    return this.#options.depth > 0;
  }

  /** Why this process may ask nobody, whoever its configuration names; `undefined` where it may. */
  get limit(): string | undefined {
    return mayAsk(this.#options.depth) ? undefined : DEPTH_REASON;
  }

  /** The entries in the order of the configuration. */
  get entries(): readonly AgentEntry[] {
    return this.#options.entries;
  }

  /** The entry of an agent. */
  entry(name: string): AgentEntry | undefined {
    return this.#members.get(name)?.entry;
  }

  /**
   * What an agent is called in front ends: what it calls itself, else its name. Every mm whose
   * configuration has no title calls itself mm, which says nothing about it.
   */
  title(name: string): string {
    const title = this.#members.get(name)?.child.title ?? name;
    return title === UNTITLED ? name : title;
  }

  /** Whether an agent's gated calls run without a question, given the yolo of who asks. */
  yolo(name: string, own: boolean): boolean {
    const entry = this.#members.get(name)?.entry.yolo;
    return callsRun({ asked: this.asked, own, entry });
  }

  /** Who can be asked, and in what state each is. */
  status(): AgentStatus[] {
    return [...this.#members.values()].map(({ entry, child, label, lastFailure }) => ({
      name: entry.name,
      description: entry.description,
      state: child.state,
      label,
      lastFailure,
    }));
  }

  /** Why there is no such agent, for whoever asked for it. */
  unknownAgent(name: string): string {
    const names = [...this.#members.keys()];
    if (names.length === 0) {
      return "there is no agent to ask: add one under mmConfigs in the configuration";
    }
    return `there is no agent "${name}", only ${names.join(", ")}${didYouMean(name, names)}`;
  }

  /** Whether an agent's process runs. */
  runs(name: string): boolean {
    return this.#members.get(name)?.child.state === "running";
  }

  /** Starts an agent's child and opens a session in it, to see whether that works. */
  async probe(
    name: string,
    options: { readonly cwd: string; readonly signal: AbortSignal },
  ): Promise<{ readonly title: string | undefined; readonly label: string | undefined }> {
    const member = this.#members.get(name);
    if (member === undefined) throw new Error(this.unknownAgent(name));
    const { connection } = await member.child.running({ ...options, helloMs: CONNECT_TIMEOUT_MS });
    const session = await connection.newSession(options);
    await session.close();
    return { title: connection.title, label: session.label };
  }

  /** Asks an agent. Never rejects: every failure is an end. */
  async ask(options: PoolAskOptions): Promise<ResidentAskResult> {
    const { silenceMs, callBudgetMs, depth } = this.#options;
    const started = performance.now();
    const ended = (end: End): AskResult => ({
      end,
      answer: "",
      toolCalls: 0,
      durationMs: Math.round(performance.now() - started),
    });
    // The second guard of the depth limit: also for a call that was never offered.
    if (!mayAsk(depth)) return ended({ kind: "refused", by: "depth", reason: DEPTH_REASON });
    const member = this.#members.get(options.agent);
    if (member === undefined) {
      return ended({ kind: "failed", reason: this.unknownAgent(options.agent) });
    }
    const { entry, child } = member;
    let release: () => void;
    try {
      if (this.#slots.full) options.onQueued?.(this.#slots.waiting);
      options.onBusy?.(true);
      release = await this.#slots.take({ signal: options.signal });
    } catch {
      return ended({ kind: "cancelled" });
    } finally {
      options.onBusy?.(false);
    }
    try {
      const result = await ask({
        ...options,
        onBusy: options.onBusy ?? (() => {}),
        child,
        cwd: entry.cwd ?? options.cwd,
        silenceMs: entry.timeoutMs ?? options.silenceMs ?? silenceMs,
        callBudgetMs,
        ...(member.window === undefined ? {} : { window: member.window }),
      });
      this.#remember(member, result);
      return result;
    } finally {
      release();
    }
  }

  /** Ends every child, for good; returns when they are gone. */
  async close(): Promise<void> {
    await Promise.all([...this.#members.values()].map(({ child }) => child.stop()));
  }

  #remember(member: Member, result: AskResult): void {
    if (result.label !== undefined) member.label = result.label;
    if (result.window !== undefined) member.window = result.window;
    const { end } = result;
    if (end.kind === "died" || end.kind === "failed" || end.kind === "timed_out") {
      member.lastFailure = describeEnd(end, member.entry.name);
    }
  }

  #childOf(entry: AgentEntry): ChildAgent {
    const { self, env, depth, start, connect, redact } = this.#options;
    return new ChildAgent({
      name: entry.name,
      command: entry.command ?? [...self, "-acp", "-config", entry.path ?? ""],
      env: childEnvironment({ env, entry, depth }),
      start,
      connect,
      redact,
    });
  }
}
