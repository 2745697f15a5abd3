/**
 * `/tasks` and `/fork`: the runs in the background, for the person.
 *
 * @module
 */
import { oneLine } from "../base/cut.ts";
import { formatDuration } from "../base/duration.ts";
import { didYouMean } from "../base/nearest.ts";
import { describeEnd } from "../base/ends.ts";
import type { Delegation } from "../delegation/delegation.ts";
import { mayDelegate } from "../delegation/delegation_limits.ts";
import type { Run } from "../delegation/run.ts";
import type { Runs } from "../delegation/runs.ts";
import type { Conversation } from "../engine/conversation.ts";

/** UTF-16 units of a description in a list, and of one made from a directive. */
const DESCRIPTION_LENGTH = 60;

/** What a command says, and whether it was carried out. */
export interface CommandAnswer {
  readonly ok: boolean;
  readonly text: string;
}

/**
 * Carries out `/tasks [id | stop id]`.
 *
 * @param runs those of the session; `undefined` where it delegates to nobody.
 * @param rest what stands after `/tasks`.
 */
export async function tasksCommand(
  runs: Pick<Runs, "list" | "get" | "stop"> | undefined,
  rest: string,
): Promise<CommandAnswer> {
  const list = runs?.list ?? [];
  const [first = "", id = ""] = rest.split(/\s+/u);
  if (first === "") {
    if (list.length === 0) return said("No subagent was started in the background.");
    return said([...list.map(taskLine), "/tasks stop <id> ends one."].join("\n"));
  }
  const wanted = first === "stop" ? id : first;
  if (wanted === "") return wrong("/tasks stop needs an id: /tasks lists them");
  const run = runs?.get(wanted);
  if (runs === undefined || run === undefined) {
    const ids = list.map((one) => one.id);
    return wrong(`There is no task "${wanted}", see /tasks${didYouMean(wanted, ids)}`);
  }
  if (first !== "stop") return said(taskDetails(run));
  if (run.state === "ended") return wrong(`${run.id} has ended already`);
  const notes = await runs.stop(run);
  const words = run.active ? `${run.id} is being stopped.` : `${run.id} is stopped.`;
  return said([words, ...notes].join("\n"));
}

function taskLine(run: Run): string {
  const since = formatDuration(performance.now() - run.since);
  const what = oneLine(run.description, DESCRIPTION_LENGTH);
  return `${run.id}  ${run.agent}  ${run.status} for ${since}  ${what}`;
}

function taskDetails(run: Run): string {
  const { result } = run;
  return [
    taskLine(run),
    `directory: ${run.cwd}`,
    ...(run.worktree === undefined ? [] : [`branch: ${run.worktree.branch}`]),
    ...(run.activity.length === 0 ? [] : ["lately:", ...run.activity.map((one) => `  ${one}`)]),
    ...(result === undefined ? [] : [describeEnd(result.end, run.agent), result.answer]),
  ].join("\n");
}

/** Options of {@linkcode forkCommand}. */
export interface ForkCommandOptions {
  /** Absent where the session delegates to nobody. */
  readonly delegation: Pick<Delegation, "offer" | "fork"> | undefined;
  readonly directive: string;
  readonly conversation: Conversation;
  /** Why there are no subagents here, for the person. */
  readonly limit: string;
}

/** Carries out `/fork <directive>`: the fork runs in the background, the conversation notes it. */
export async function forkCommand(options: ForkCommandOptions): Promise<CommandAnswer> {
  const { delegation, directive, conversation, limit } = options;
  if (directive === "") return wrong("/fork needs a task: what the fork is to do");
  if (delegation === undefined || !delegation.offer.background) return wrong(limit);
  if (!delegation.offer.forks) {
    return wrong("There are no forks here: agents.forks is false in the configuration");
  }
  if (!conversation.messages.some((message) => message.role === "user")) {
    return wrong("There is nothing to fork yet: a fork begins with this conversation");
  }
  const started = await delegation.fork(directive, oneLine(directive, DESCRIPTION_LENGTH));
  if ("error" in started) return wrong(`There is no fork: ${started.error}`);
  conversation.addPair(
    `[forked this conversation as ${started.id}: ${directive}]`,
    `[${started.id} is at work; its result comes in a later message]`,
  );
  return said(`${started.id} is at work on it in the background, see /tasks.`);
}

/**
 * Why another conversation cannot begin: runs of this one are at work.
 *
 * @param active how many.
 */
export function busyReason(active: number): string | undefined {
  if (active === 0) return undefined;
  const [runs, them] = active === 1 ? ["A subagent is", "it"] : [`${active} subagents are`, "them"];
  return `${runs} at work in the background: wait, or end ${them} with /tasks stop`;
}

/** Why nothing is delegated here. */
export function noDelegation(depth: number, maxDepth: number): string {
  return mayDelegate(depth, maxDepth)
    ? "There are no subagents in the background here: the tool agent is not among the tools, or " +
      "agents.background is never"
    : "There are no subagents here: agents.maxDepth is reached";
}

function said(text: string): CommandAnswer {
  return { ok: true, text };
}

function wrong(text: string): CommandAnswer {
  return { ok: false, text };
}
