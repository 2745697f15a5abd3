/**
 * One run of a subagent: what it is to do, where it stands, what came of it.
 *
 * @module
 */
import type { AskResult, ResidentSession } from "../agents/ask.ts";
import type { ForkOpening } from "../agents/child_connection.ts";
import { oneLine } from "../base/cut.ts";
import { formatDuration } from "../base/duration.ts";
import { MAX_ACTIVITY } from "./delegation_limits.ts";
import type { AgentDefinition } from "./definition.ts";
import { FORK } from "./definition_name.ts";
import type { Notification } from "./notification.ts";
import type { Worktree } from "./worktree.ts";

/** UTF-16 units of what a run does, as lists show it. */
const ACTIVITY_LENGTH = 100;

/** Who carries out a run. */
export type RunTarget =
  | { readonly kind: "definition"; readonly definition: AgentDefinition }
  /** `sessionId`: the saved copy of the conversation that was forked. */
  | { readonly kind: "fork"; readonly sessionId: string; readonly opening: ForkOpening }
  /** An agent of `mmConfigs`. */
  | { readonly kind: "entry"; readonly agent: string }
  /** One of an earlier mm that nobody can carry out any more. */
  | { readonly kind: "gone"; readonly agent: string; readonly reason: string };

/**
 * Where a run stands. `paused`: an mm that ended had it; `parked`: it waits for a person.
 */
export type RunState = "queued" | "running" | "parked" | "ended" | "paused";

/** What came of a round. */
export interface RunResult extends AskResult {
  /** What is to be said besides the answer: what is left of a worktree, a hook that did not work. */
  readonly notes: readonly string[];
}

/** Returns how a round ended, in a word: `completed`, `incomplete`, `failed`, … */
export function statusOf({ end: { kind } }: RunResult): string {
  return kind === "answered" ? "completed" : kind;
}

/** Says whether a run can be told something more after this end of a round. */
export function canGoOn({ end: { kind } }: Pick<AskResult, "end">): boolean {
  return kind === "answered" || kind === "incomplete";
}

/** Options of {@linkcode Run}. */
export interface RunOptions {
  readonly id: string;
  readonly target: RunTarget;
  readonly description: string;
  /** The directory it works in, absolute. */
  readonly cwd: string;
  readonly worktree?: Worktree | undefined;
  readonly background: boolean;
  /** Where it stands, for one that is restored. @default {"queued"} */
  readonly state?: RunState;
  /** Rounds it had, for one that is restored. @default {0} */
  readonly rounds?: number;
  /** The session in its child that it can go on in, for one that is restored. */
  readonly sessionId?: string | undefined;
  /** Ends that the model was not told of, for one that is restored. */
  readonly untold?: readonly Notification[];
  /** How its last round ended, in a word, for one that is restored. */
  readonly status?: string | undefined;
  /** What it is to be told first, where it has not begun. */
  readonly task?: string | undefined;
  /** Whether the model was told that it is there to be gone on with, for one that is restored. */
  readonly reminded?: boolean;
}

/** One run. The registry changes it; everybody else reads. */
export class Run {
  readonly id: string;
  readonly target: RunTarget;
  readonly description: string;
  readonly cwd: string;
  /** Whether it works beside the conversation, which is told of its ends. */
  background: boolean;
  /** Whether its call was cut short: it can go on, however that ended. */
  cutShort = false;
  worktree: Worktree | undefined;
  state: RunState;
  /** Rounds so far: one for the first prompt, one for each time it went on. */
  rounds: number;
  /** What came of the last round. */
  result: RunResult | undefined;
  /** The ends that the model does not know yet, the oldest first. */
  untold: Notification[] = [];
  /** Whether the round is past the point where it takes messages. */
  finishing = false;
  /** The session in the child, for a child that is gone. */
  sessionId: string | undefined;
  /** The session it lives in. */
  resident: ResidentSession | undefined;
  /** Messages that wait for the next prompt. */
  readonly messages: string[] = [];
  /** What it is to be told first; absent once there is a session that was told. */
  task: string | undefined;
  /** Whether the model was told, in an mm of before or this one, that it is there to be gone on with. */
  reminded: boolean;
  /** When this state began: milliseconds as `performance.now()` counts them; absent where an mm before had it. */
  since: number | undefined;
  /** Ends the round under way. */
  readonly #controllers = new Set<AbortController>();
  readonly #activity: string[] = [];
  #status: string | undefined;

  /** Creates a run; nothing is started. */
  constructor(options: RunOptions) {
    this.id = options.id;
    this.target = options.target;
    this.description = options.description;
    this.cwd = options.cwd;
    this.worktree = options.worktree;
    this.background = options.background;
    this.state = options.state ?? "queued";
    this.since = options.state === undefined ? performance.now() : undefined;
    this.rounds = options.rounds ?? 0;
    this.sessionId = options.sessionId;
    this.untold = [...options.untold ?? []];
    this.#status = options.status;
    this.task = options.task;
    this.reminded = options.reminded ?? false;
  }

  /** Who carries it out: `explore`, `fork`, `bob`. */
  get agent(): string {
    const { target } = this;
    if (target.kind === "definition") return target.definition.name;
    return target.kind === "fork" ? FORK : target.agent;
  }

  /** Whether it works or waits to. */
  get active(): boolean {
    return this.state === "queued" || this.state === "running" || this.state === "parked";
  }

  /** How the last round ended, in a word: `completed`, `incomplete`, `failed`, … */
  get status(): string {
    if (this.state !== "ended") return this.state;
    const { result } = this;
    return result === undefined ? this.#status ?? "failed" : statusOf(result);
  }

  /** For how long it stands there, or how long ago it ended: `for 3.2 s`, `5 min ago`. */
  get age(): string | undefined {
    if (this.since === undefined) return undefined;
    const time = formatDuration(performance.now() - this.since);
    return this.state === "ended" ? `${time} ago` : `for ${time}`;
  }

  /** What it did lately, the oldest first. */
  get activity(): readonly string[] {
    return this.#activity;
  }

  /** Notes what it does. */
  did(what: string): void {
    this.#activity.push(oneLine(what, ACTIVITY_LENGTH));
    if (this.#activity.length > MAX_ACTIVITY) this.#activity.shift();
  }

  /** Returns a signal that {@linkcode Run.stop} aborts, and a function for when it is of no use any more. */
  stopSignal(): { readonly signal: AbortSignal; readonly done: () => void } {
    const controller = new AbortController();
    this.#controllers.add(controller);
    return { signal: controller.signal, done: () => this.#controllers.delete(controller) };
  }

  /** Notes that nobody will go on with it. */
  giveUp(): void {
    this.#status = "cancelled";
  }

  /** Ends the round under way. */
  stop(): void {
    for (const controller of this.#controllers) controller.abort();
  }
}
