/**
 * The gate: decides for each tool call whether it may run.
 *
 * Order: `deny` rules, `ask` rules, yolo, `allow` rules, what the person allowed for this session,
 * and last the person.
 *
 * @module
 */
import { UsageError } from "../base/errors.ts";
import type { ToolCallView } from "../base/tool_call.ts";
import type { PermissionRules } from "../config/types.ts";
import type { AskPermission } from "./question.ts";
import { ownRule, parseRule, permits, restricts, type Rule } from "./rules.ts";
import { subjectOf } from "./subject.ts";

/** A call the gate decides about. */
export interface GateCall {
  readonly view: ToolCallView;
  /** Who wants to run it: empty for this agent, else the path of the asked one. */
  readonly agent: string;
  /** Whether it needs permission at all. Rules count either way. */
  readonly gated: boolean;
  /** Whether gated calls of this agent run without a question. */
  readonly yolo: boolean;
  /** The directory the call works in, absolute. */
  readonly cwd: string;
  /** The run in the background that makes the call; absent for the work of a turn. */
  readonly taskId?: string;
  /**
   * Whether the agent that makes the call says that a rule of its own wants a person. It can only
   * restrict: rules that deny count before it.
   */
  readonly mustAsk?: boolean;
}

/** What the gate decided. `rejected` was a person's answer; `denied` a rule's; the rest nobody's. */
export type Decision =
  | { readonly allowed: true }
  | {
    readonly allowed: false;
    readonly why: "denied" | "rejected" | "unavailable" | "cancelled";
    /** For the model and the person, without a final period. */
    readonly reason: string;
  };

/** Options of {@linkcode Gate}. */
export interface GateOptions {
  readonly rules: PermissionRules;
  /** False for an asked agent: only who asks may permit, so its own `allow` rules do not count. */
  readonly honourAllowRules: boolean;
  readonly askPermission: AskPermission;
}

/** The gate of one session. */
export class Gate {
  readonly #rules: { readonly allow: Rule[]; readonly ask: Rule[]; readonly deny: Rule[] };
  readonly #askPermission: AskPermission;
  readonly #allowed = new Set<string>();
  readonly #rejected = new Set<string>();
  /**
   * Questions are put one after the other, so that a grant spares the ones that wait. Those of runs in the
   * background have a row of their own: one that nobody answers yet holds up no turn.
   */
  readonly #rows: Record<"turn" | "background", Promise<unknown>> = {
    turn: Promise.resolve(),
    background: Promise.resolve(),
  };

  /**
   * Creates the gate of a session.
   *
   * @throws {UsageError} for a rule that has no known form.
   */
  constructor(options: GateOptions) {
    this.#rules = {
      allow: options.honourAllowRules ? parseRules(options.rules.allow, "allow") : [],
      ask: withOwn(parseRules(options.rules.ask, "ask"), options.rules.subagent),
      deny: withOwn(parseRules(options.rules.deny, "deny"), options.rules.subagent),
    };
    this.#askPermission = options.askPermission;
  }

  /** Decides about a call. Never throws: whatever goes wrong refuses. */
  async decide(call: GateCall, options: { readonly signal: AbortSignal }): Promise<Decision> {
    const { view } = call;
    const subject = await subjectOf(view, call.cwd);
    const denied = this.#rules.deny.find((rule) => restricts(rule, subject));
    if (denied !== undefined) {
      return refuse("denied", `the rule "${denied.source}" denies ${view.name}`);
    }
    const asking = this.#rules.ask.find((rule) => restricts(rule, subject));
    const mustAsk = asking !== undefined
      ? `the rule "${asking.source}" of permissions.ask`
      : call.mustAsk === true
      ? `a rule of permissions.ask that ${call.agent} has`
      : undefined;
    if (mustAsk === undefined) {
      if (!call.gated || call.yolo) return { allowed: true };
      if (this.#rules.allow.some((rule) => permits(rule, subject))) return { allowed: true };
      if (this.#allowed.has(view.name)) return { allowed: true };
    }
    const row = call.taskId === undefined ? "turn" : "background";
    return await this.#enqueue(row, () => this.#ask(call, mustAsk, options.signal));
  }

  /** Forgets what a person allowed or rejected for the session: another one begins. */
  forget(): void {
    this.#allowed.clear();
    this.#rejected.clear();
  }

  async #ask(
    call: GateCall,
    mustAsk: string | undefined,
    signal: AbortSignal,
  ): Promise<Decision> {
    const { view, agent, cwd } = call;
    if (signal.aborted) return refuse("cancelled", "the turn was cancelled");
    // What was answered while this question waited counts for it too.
    if (mustAsk === undefined && this.#allowed.has(view.name)) return { allowed: true };
    if (this.#rejected.has(view.name)) {
      return refuse("rejected", `the user rejected ${view.name} for this session`);
    }
    const answer = await this.#answer(call, mustAsk, signal);
    if (signal.aborted) return refuse("cancelled", "the turn was cancelled");
    switch (answer.kind) {
      case "allow_session":
        this.#allowed.add(view.name);
        return { allowed: true };
      case "allow_once":
        return { allowed: true };
      case "reject_session":
        this.#rejected.add(view.name);
        return refuse("rejected", `the user rejected ${view.name} for this session`);
      case "reject_once":
        return refuse("rejected", `the user rejected this call of ${view.name}`);
      case "cancelled":
        return refuse("cancelled", "the turn was cancelled");
      case "unavailable":
        return refuse("unavailable", answer.reason);
      default:
        // A front end that answers outside its type: fail closed.
        return refuse("unavailable", `${agent || "the front end"} gave no valid answer in ${cwd}`);
    }
  }

  async #answer(call: GateCall, mustAsk: string | undefined, signal: AbortSignal) {
    try {
      return await this.#askPermission(
        {
          call: call.view,
          agent: call.agent,
          cwd: call.cwd,
          ...(call.taskId === undefined ? {} : { taskId: call.taskId }),
          ...(mustAsk === undefined ? {} : { mustAsk }),
        },
        { signal },
      );
    } catch {
      return { kind: "unavailable", reason: "the question could not be shown" } as const;
    }
  }

  #enqueue<T>(row: "turn" | "background", task: () => Promise<T>): Promise<T> {
    const result = this.#rows[row].then(task);
    this.#rows[row] = result.catch(() => {});
    return result;
  }
}

function refuse(
  why: "denied" | "rejected" | "unavailable" | "cancelled",
  reason: string,
): Decision {
  return { allowed: false, why, reason };
}

/** Who starts a subagent hears nothing of calls that need no leave, so that one has to know them itself. */
function withOwn(rules: readonly Rule[], subagent: string | undefined): Rule[] {
  if (subagent === undefined) return [...rules];
  return rules.flatMap((rule) => [rule, ownRule(rule, subagent) ?? []].flat());
}

function parseRules(sources: readonly string[], list: string): Rule[] {
  return sources.map((source) => {
    const rule = parseRule(source);
    if (rule === undefined) {
      throw new UsageError(
        `Cannot understand the rule "${source}" in permissions.${list}: write "tool" or "tool(pattern)"`,
      );
    }
    return rule;
  });
}
