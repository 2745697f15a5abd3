/**
 * For the tests of runs: a registry whose subagents are functions; no process is started.
 *
 * @module
 */
import type { ChildAgent } from "../agents/child_agent.ts";
import type { ChildSession } from "../agents/child_connection.ts";
import { idlePool, playedChild } from "../agents/testing.ts";
import type { EngineEvent } from "../engine/events.ts";
import { Gate } from "../gate/gate.ts";
import type { Child } from "../platform/process.ts";
import { BUILTIN_DEFINITIONS } from "./builtin_definitions.ts";
import type { Run, RunTarget } from "./run.ts";
import { RunReports } from "./run_report.ts";
import { RunSlots } from "./run_slots.ts";
import { Runs, type RunsOptions, type StartRun } from "./runs.ts";
import { SubagentChildren } from "./subagent_children.ts";

const [DEFINITION] = BUILTIN_DEFINITIONS;

/** The built-in definition. */
export const TARGET: RunTarget = { kind: "definition", definition: DEFINITION! };

const NEVER = new AbortController().signal;

/** What a subagent does with a prompt. */
export type Prompt = ChildSession["prompt"];

/** Says one thing and ends its turn. */
export const says = (answer: string): Prompt => (_text, { onUpdate }) => {
  onUpdate({ type: "text", text: answer });
  return Promise.resolve({ stop: "end_turn" });
};

/** Works until it is cancelled; `begun` settles when it does. */
export function working(): { readonly prompt: Prompt; readonly begun: Promise<void> } {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const prompt: Prompt = (_text, { signal, onUpdate }) => {
    onUpdate({ type: "text", text: "So far." });
    begin();
    return new Promise((resolve) =>
      signal.addEventListener("abort", () => resolve({ stop: "cancelled" }), { once: true })
    );
  };
  return { prompt, begun };
}

/** A registry and what it did. */
export interface RunsStage {
  readonly runs: Runs;
  /** What the front end was told. */
  readonly events: EngineEvent[];
  /** The sessions of subagents that were closed. */
  readonly closed: string[];
  /** Starts a run in the background. */
  start(more?: Partial<StartRun>): Run;
  /** Starts a run and waits for its end. */
  finished(more?: Partial<StartRun>): Promise<Run>;
}

/** A registry whose subagents answer in `prompt`; no process is started. */
export function runsStage(
  prompt: Prompt,
  { setup, ...options }: Partial<Omit<RunsOptions, "setup">> & {
    readonly setup?: Partial<RunsOptions["setup"]>;
  } = {},
): RunsStage {
  const events: EngineEvent[] = [];
  const closed: string[] = [];
  const redact = (text: string) => text;
  let sessions = 0;
  const connect: ConstructorParameters<typeof ChildAgent>[0]["connect"] = (child) => {
    const open = (id: string): ChildSession => ({
      id,
      label: undefined,
      window: undefined,
      prompt,
      steer: () => Promise.resolve(false),
      close: () => {
        closed.push(id);
        return Promise.resolve();
      },
    });
    return Promise.resolve({
      title: undefined,
      closed: (child as Child).ended.then(() => {}),
      newSession: () => Promise.resolve(open(`s${++sessions}`)),
      loadSession: ({ id }) => Promise.resolve(open(id)),
      close: () => {},
    });
  };
  const children = new SubagentChildren({
    self: ["mm"],
    configFile: undefined,
    model: undefined,
    env: {},
    depth: 0,
    stateDir: () => Promise.resolve(undefined),
    start: () => Promise.resolve(playedChild()),
    connect,
    redact,
  });
  const emit = (event: EngineEvent) => void events.push(event);
  const runs = new Runs({
    setup: {
      pool: idlePool(),
      children,
      slots: new RunSlots({
        maxParallel: 4,
        model: { url: "", facts: () => Promise.resolve({}) },
      }),
      gate: new Gate({
        rules: { allow: [], ask: [], deny: [] },
        honourAllowRules: true,
        askPermission: () => Promise.resolve({ kind: "reject_once" }),
      }),
      emit,
      yolo: () => true,
      cwd: "/",
      settings: () => undefined,
      mcpServers: [],
      silenceMs: 60_000,
      callBudgetMs: 60_000,
      ...setup,
    },
    emit,
    worktrees: undefined,
    reports: new RunReports({
      maxOutput: 1000,
      folder: () => Promise.reject(new Error("nothing is written here")),
      redact,
    }),
    records: undefined,
    warn: () => {},
    ...options,
  });
  const begin = (more: Partial<StartRun> = {}) =>
    runs.start({ target: TARGET, description: "A task", prompt: "Go", cwd: "/", ...more });
  return {
    runs,
    events,
    closed,
    start: begin,
    finished: async (more) => {
      const run = begin(more);
      await runs.ended(run, NEVER);
      return run;
    },
  };
}
