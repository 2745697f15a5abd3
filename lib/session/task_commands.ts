/**
 * `/tasks` and `/fork`: the runs in the background, for the person.
 *
 * @module
 */
import { oneLine } from "../base/cut.ts";
import { didYouMean } from "../base/nearest.ts";
import { describeEnd } from "../base/ends.ts";
import { isDirectory } from "../delegation/blocked.ts";
import type { Delegation } from "../delegation/delegation.ts";
import { MAX_MESSAGE, mayDelegate } from "../delegation/delegation_limits.ts";
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

/** What is to be typed after `/tasks`. */
const USAGE = "/tasks, /tasks <id>, /tasks stop <id>, /tasks stop all, /tasks tell <id> <message>";

/** Options of {@linkcode tasksCommand}. */
export interface TasksCommandOptions {
  /** Absent where the session delegates to nobody. */
  readonly delegation:
    | (Pick<Delegation, "blocked" | "tell"> & {
      readonly runs: Pick<Runs, "list" | "get" | "stop">;
    })
    | undefined;
  /** What stands after `/tasks`. */
  readonly rest: string;
  readonly signal: AbortSignal;
}

/**
 * Carries out `/tasks [id | stop id | stop all | tell id message]`.
 *
 * @throws the signal's reason when a message is to be told and it is aborted.
 */
export async function tasksCommand(options: TasksCommandOptions): Promise<CommandAnswer> {
  const { delegation, rest, signal } = options;
  const list = delegation?.runs.list ?? [];
  const [, first = "", second = "", message = ""] =
    /^(\S*)\s*(\S*)\s*([\s\S]*)$/u.exec(rest.trim()) ?? [];
  if (first === "") return await listed(list, delegation);
  const verb = first === "stop" || first === "tell" ? first : undefined;
  if (verb === undefined && second !== "" || verb === "stop" && message !== "") {
    return wrong(`"/tasks ${oneLine(rest, DESCRIPTION_LENGTH)}" is no command: ${USAGE}`);
  }
  const wanted = verb === undefined ? first : second;
  if (wanted === "") return wrong(`/tasks ${verb} needs an id: /tasks lists them`);
  if (verb === "stop" && wanted === "all") return await stopAll(list, delegation);
  const found = meant(wanted, list);
  if (delegation === undefined || "none" in found) return wrong(found.none ?? USAGE);
  const { run } = found;
  if (verb === undefined) return said(await taskDetails(run, delegation));
  if (verb === "stop") return await stopOne(run, delegation);
  if (message.trim() === "") return wrong("/tasks tell needs a message behind the id");
  if (message.length > MAX_MESSAGE) {
    return wrong(`A message has at most ${MAX_MESSAGE} characters, and this one ${message.length}`);
  }
  return await delegation.tell(run, message, { signal });
}

type TasksDelegation = NonNullable<TasksCommandOptions["delegation"]>;

/** Returns the run that an id means: the beginning of one is enough, with or without `task-`. */
function meant(
  wanted: string,
  list: readonly Run[],
): { readonly run: Run; readonly none?: undefined } | { readonly none: string } {
  const begins = (beginning: string) => list.filter(({ id }) => id.startsWith(beginning));
  const exact = list.filter(({ id }) => id === wanted);
  const found = exact.length > 0 ? exact : [...begins(wanted), ...begins(`task-${wanted}`)];
  const [run] = found;
  if (run !== undefined && found.length === 1) return { run };
  const shown = oneLine(wanted, DESCRIPTION_LENGTH);
  if (run !== undefined) {
    return { none: `"${shown}" can be each of ${found.map(({ id }) => id).join(", ")}` };
  }
  const hint = didYouMean(wanted, list.map(({ id }) => id));
  return { none: `There is no task "${shown}", see /tasks${hint}` };
}

async function listed(
  list: readonly Run[],
  delegation: TasksDelegation | undefined,
): Promise<CommandAnswer> {
  if (list.length === 0) return said("No subagent was started in the background.");
  const lines = await Promise.all(list.map(async (run) => {
    // Of those that are paused, a person wants to know what can become of them.
    const blocked = run.state === "paused" ? await delegation?.blocked(run) : undefined;
    return taskLine(run) + (blocked === undefined ? "" : `  (cannot go on: ${blocked})`);
  }));
  const hints = [
    "/tasks <id> shows one, /tasks stop <id> ends one, /tasks tell <id> <message> tells one something.",
  ];
  return said([...lines, ...(list.some(goesOn) ? hints : [])].join("\n"));
}

/** Whether it is at work, or waits for a person to let it go on. */
function goesOn(run: Run): boolean {
  return run.state !== "ended";
}

async function stopOne(run: Run, { runs }: TasksDelegation): Promise<CommandAnswer> {
  if (run.state === "ended") return wrong(`${run.id} has ended already`);
  const notes = await runs.stop(run);
  const words = run.active ? `${run.id} is being stopped.` : `${run.id} is stopped.`;
  return said([words, ...notes].join("\n"));
}

async function stopAll(
  list: readonly Run[],
  delegation: TasksDelegation | undefined,
): Promise<CommandAnswer> {
  const wanted = list.filter(goesOn);
  if (delegation === undefined || wanted.length === 0) return wrong("There is nothing to stop");
  const answers = await Promise.all(wanted.map((run) => stopOne(run, delegation)));
  return said(answers.map(({ text }) => text).join("\n"));
}

function taskLine(run: Run): string {
  const standing = run.age === undefined ? run.status : `${run.status} ${run.age}`;
  return `${run.id}  ${run.agent}  ${standing}  ${oneLine(run.description, DESCRIPTION_LENGTH)}`;
}

async function taskDetails(run: Run, delegation: TasksDelegation): Promise<string> {
  const { result, worktree } = run;
  const blocked = run.active ? undefined : await delegation.blocked(run);
  const gone = await isDirectory(run.cwd) ? "" : " (which is gone)";
  return [
    taskLine(run),
    `directory: ${run.cwd}${gone}`,
    ...(worktree === undefined ? [] : [`branch: ${worktree.branch}`]),
    ...(run.activity.length === 0 ? [] : ["lately:", ...run.activity.map((one) => `  ${one}`)]),
    blocked === undefined
      ? `/tasks tell ${run.id} <message> tells it something`
      : `cannot go on: ${blocked}`,
    ...(result === undefined ? [] : [describeEnd(result.end, run.agent), result.answer]),
    ...result?.notes ?? [],
  ].join("\n");
}

/** Runs that a notice names; `/tasks` lists all. */
const MAX_NAMED = 5;

/** Says which runs of a conversation that is gone on with are paused; `undefined` for none. */
export function pausedWords(paused: readonly Run[]): string | undefined {
  if (paused.length === 0) return undefined;
  const names = paused.slice(0, MAX_NAMED).map((run) =>
    `${run.id} (${run.agent}: ${oneLine(run.description, DESCRIPTION_LENGTH)})`
  );
  const more = paused.length - names.length;
  const [are, one] = paused.length === 1
    ? ["A subagent of before is paused", "lets it go on"]
    : [`${paused.length} subagents of before are paused`, "lets one go on"];
  return `${are}: ${names.join(", ")}${more > 0 ? ` and ${more} more, see /tasks` : ""}. ` +
    `/tasks tell <id> <message> ${one}, /tasks stop <id> gives it up.`;
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
