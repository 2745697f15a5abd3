/**
 * The runs of a conversation that is gone on with: shown again, none of them started.
 *
 * @module
 */
import type { AgentPool } from "../agents/pool.ts";
import type { ToolDeclaration } from "../model/types.ts";
import type { DefinitionBook } from "./definition.ts";
import { MAX_KEPT_RUNS } from "./delegation_limits.ts";
import { Run, type RunTarget } from "./run.ts";
import { readRunRecords, type SavedRun } from "./run_record.ts";

/** Options of {@linkcode restoreRuns}. */
export interface RestoreOptions {
  /** The file of the conversation's runs, absolute. */
  readonly path: string;
  readonly book: DefinitionBook;
  readonly pool: AgentPool;
  /** The conversation as it goes on: what a fork of it shares. */
  readonly source: () => { readonly system: string; readonly tools: readonly ToolDeclaration[] };
}

type TargetOptions = Omit<RestoreOptions, "book"> & { readonly book: Pick<DefinitionBook, "find"> };

/** Returns the runs as they stand now: what was under way is paused. Never rejects. */
export async function restoreRuns(options: RestoreOptions): Promise<Run[]> {
  const saved = kept(await readRunRecords(options.path));
  const find = remembered((name) => options.book.find(name));
  return await Promise.all(saved.map(async (run) => {
    const ended = run.state === "ended";
    return new Run({
      id: run.id,
      target: await targetOf(run, { ...options, book: { find } }),
      description: run.description,
      cwd: run.cwd,
      worktree: run.worktree,
      background: true,
      state: ended ? "ended" : "paused",
      rounds: run.rounds,
      sessionId: run.session,
      ...(hasTask(run) ? { task: run.task } : {}),
      reminded: run.reminded ?? false,
      untold: run.untold,
      ...(ended ? { status: run.status } : {}),
    });
  }));
}

/** Whether a run did not begin yet and can. */
function hasTask({ state, task, session }: SavedRun): boolean {
  return state !== "ended" && task !== undefined && session === undefined;
}

/** As while mm runs: of those that ended, and whose ends were told, the last ones. */
function kept(saved: readonly SavedRun[]): readonly SavedRun[] {
  const over = saved.filter((run) => run.state === "ended" && run.untold.length === 0);
  const forgotten = new Set(over.slice(0, Math.max(0, over.length - MAX_KEPT_RUNS)));
  return saved.filter((run) => !forgotten.has(run));
}

/** Each definition is looked for once, however many runs it has. */
function remembered(find: DefinitionBook["find"]): DefinitionBook["find"] {
  const found = new Map<string, ReturnType<DefinitionBook["find"]>>();
  return (name) => {
    const known = found.get(name) ?? find(name);
    found.set(name, known);
    return known;
  };
}

async function targetOf(run: SavedRun, options: TargetOptions): Promise<RunTarget> {
  const { agent } = run;
  const gone = (reason: string): RunTarget => ({ kind: "gone", agent, reason });
  if (run.session === undefined && !hasTask(run)) {
    return gone("nothing of its conversation was saved");
  }
  switch (run.kind) {
    case "entry":
      return gone("the conversation of an asked agent ends with the mm that asked it");
    case "fork": {
      const { allow } = run;
      const begins = hasTask(run);
      const sessionId = begins ? run.copy : run.session;
      if (sessionId === undefined) return gone("nothing of its conversation was saved");
      const callId = begins ? run.callId : undefined;
      const { source } = options;
      return {
        kind: "fork",
        sessionId,
        // As they are when it goes on: the tools of MCP servers are not there at once.
        get opening() {
          const { system, tools } = source();
          return {
            system,
            tools,
            ...(allow === undefined ? {} : { allow }),
            ...(callId === undefined ? {} : { callId }),
          };
        },
      };
    }
    case "definition": {
      const found = await options.book.find(agent);
      return "definition" in found
        ? { kind: "definition", definition: found.definition }
        : gone(`there is no definition "${agent}" any more`);
    }
  }
}
