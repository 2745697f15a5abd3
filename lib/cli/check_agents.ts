/**
 * The part of `mm -check` that is about the agents that may be asked: each is started once, and those
 * that are an mm answer a question, because only that tells whether their model works.
 *
 * @module
 */
import { permissionWords } from "../agents/permission_words.ts";
import type { AgentPool } from "../agents/pool.ts";
import { describeEnd } from "../base/ends.ts";
import { messageOf } from "../base/errors.ts";
import { formatDuration } from "../base/duration.ts";
import type { AgentConfig } from "../config/types.ts";
import { effectiveAskDepth } from "../platform/ask_depth.ts";
import { createReaper } from "../platform/reaper.ts";
import { createPool } from "./agent_pool.ts";
import type { CheckRow } from "./check_table.ts";
import type { Io, Lifetime } from "./mode.ts";

/** How long an agent may take to start and open a session, in milliseconds. */
const AGENT_MS = 30_000;

/** How long its model may take for one small answer, in milliseconds: as long as one's own. */
const ANSWER_MS = 60_000;

/** How long an agent may wait for its model server, in milliseconds. */
const PATIENCE_MS = 5_000;

const QUESTION = "Answer with the one word: ready";

const NOTHING_RUNS = "mm -check only looks whether the agent answers; nothing is permitted";

/** Options of {@linkcode checkAgents}. */
export interface CheckAgentsOptions {
  readonly io: Pick<Io, "env">;
  readonly lifetime: Lifetime;
  readonly config: AgentConfig;
  /** Where the agents work, absolute. */
  readonly cwd: string;
}

/** Starts all agents at the same time and returns a row for each. */
export async function checkAgents(options: CheckAgentsOptions): Promise<CheckRow[]> {
  const { io, lifetime, config, cwd } = options;
  if (config.agents.length === 0) return [];
  const reaper = createReaper();
  const depth = await effectiveAskDepth(io.env);
  const pool = createPool({ config, env: io.env, depth, reaper });
  const close = async () => {
    await pool.close();
    reaper.close();
  };
  lifetime.add(close);
  try {
    return await Promise.all(config.agents.map(async (entry): Promise<CheckRow> => {
      const { name, description } = entry;
      const what = `agent ${name}`;
      const started = await start(pool, name, { cwd, signal: lifetime.signal });
      if ("failed" in started) return { what, ok: false, detail: started.failed };
      // Another vendor's agent may charge, or do something, for a question nobody wanted to ask.
      const answered = entry.path === undefined || pool.limit !== undefined
        ? { words: "" }
        : await answer(pool, name, { cwd, signal: lifetime.signal });
      if ("failed" in answered) return { what, ok: false, detail: answered.failed };
      const lines = [
        `${started.words}${answered.words}`,
        ...(description === undefined ? [] : [description]),
        permissionWords({
          agent: name,
          runs: pool.yolo(name, config.yolo),
          asked: pool.asked,
          rules: config.permissions,
        }),
      ];
      return { what, ok: true, detail: lines.join("\n") };
    }));
  } finally {
    await close();
  }
}

/** What was seen of an agent, or why it does not work. */
type Seen = { readonly words: string } | { readonly failed: string };

interface Place {
  readonly cwd: string;
  readonly signal: AbortSignal;
}

async function start(pool: AgentPool, name: string, { cwd, signal }: Place): Promise<Seen> {
  const limit = AbortSignal.timeout(AGENT_MS);
  try {
    const since = performance.now();
    const { title, label } = await pool.probe(name, {
      cwd,
      signal: AbortSignal.any([signal, limit]),
    });
    const took = formatDuration(performance.now() - since);
    // An agent that names no model has its title for a label.
    const who = [...new Set([title, label])].filter((part) => part !== undefined).join(", ");
    return { words: `${who === "" ? name : who}, ready in ${took}` };
  } catch (thrown) {
    signal.throwIfAborted();
    return {
      failed: limit.aborted
        ? `${name} opened no session within ${formatDuration(AGENT_MS)}`
        : messageOf(thrown),
    };
  }
}

async function answer(pool: AgentPool, name: string, { cwd, signal }: Place): Promise<Seen> {
  const stop = new AbortController();
  /** What the agent waits for, while it says nothing else. */
  let waiting: string | undefined;
  let patience: ReturnType<typeof setTimeout> | undefined;
  const limit = setTimeout(() => stop.abort(), ANSWER_MS);
  const since = performance.now();
  try {
    const { end } = await pool.ask({
      agent: name,
      prompt: QUESTION,
      cwd,
      signal: AbortSignal.any([signal, stop.signal]),
      onUpdate: (update) => {
        waiting = update.type === "notice" && update.severity === "info" ? update.text : undefined;
        if (waiting !== undefined) {
          patience ??= setTimeout(() => stop.abort(), PATIENCE_MS);
        } else {
          clearTimeout(patience);
          patience = undefined;
        }
      },
      onPermission: () => Promise.resolve({ kind: "unavailable", reason: NOTHING_RUNS }),
    });
    signal.throwIfAborted();
    const took = formatDuration(performance.now() - since);
    if (stop.signal.aborted) {
      return {
        failed: `${name} gave no answer within ${took}; ${waiting ?? "its model is silent"}`,
      };
    }
    if (end.kind === "answered") return { words: `, answered in ${took}` };
    return { failed: describeEnd(end, name) };
  } finally {
    clearTimeout(limit);
    clearTimeout(patience);
  }
}
