/**
 * One ask: a session of an asked agent, a fresh one unless told otherwise, one prompt, one end.
 *
 * @module
 */
import type { End } from "../base/ends.ts";
import { formatDuration } from "../base/duration.ts";
import { messageOf } from "../base/errors.ts";
import { untilAborted } from "../base/until_aborted.ts";
import { Watchdog } from "../engine/watchdog.ts";
import type { PermissionAnswer } from "../gate/question.ts";
import type { Usage } from "../model/types.ts";
import { AnswerText, MAX_ANSWER } from "./answer_text.ts";
import { CONNECT_TIMEOUT_MS, MIN_CONNECT_MS, SESSION_TIMEOUT_MS } from "./ask_limits.ts";
import { CancelGrace } from "./cancel_grace.ts";
import { AskError, type ChildAgent, type RunningChild } from "./child_agent.ts";
import {
  type ChildCallPart,
  type ChildConnection,
  ChildError,
  type ChildPermissionOptions,
  type ChildReply,
  type ChildSession,
  type ChildStop,
  type ChildUpdate,
} from "./child_connection.ts";
import { OpenCalls } from "./open_calls.ts";
import { fitTranscript, withTranscript } from "./transcript.ts";

/** A session that is open in a child. */
export interface ResidentSession {
  readonly session: ChildSession;
  /** The child it is open in: gone with it. */
  readonly running: RunningChild;
}

/** Opens the session of an ask. */
export type OpenSession = (
  connection: ChildConnection,
  options: { readonly cwd: string; readonly signal: AbortSignal },
) => Promise<ChildSession>;

/** Options of {@linkcode ask}. */
export interface AskOptions {
  readonly agent: string;
  readonly child: ChildAgent;
  readonly prompt: string;
  /** The conversation that is sent before the prompt. */
  readonly transcript?: string;
  /** Tokens of the agent's window, where it is known from before. */
  readonly window?: number;
  /** The directory of the asked agent's session, absolute. */
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** Longest silence, in milliseconds. */
  readonly silenceMs: number;
  /** How long a tool call of the asked agent may run without a word, in milliseconds. */
  readonly callBudgetMs: number;
  readonly onUpdate: (update: ChildUpdate) => void;
  /** Told `true` while the agent starts or a tool call of it runs, then `false`. */
  readonly onBusy: (busy: boolean) => void;
  readonly onPermission: (
    call: ChildCallPart,
    options: ChildPermissionOptions,
  ) => Promise<PermissionAnswer>;
  /** Opens the session where none is open. @default {a new one} */
  readonly open?: OpenSession;
  /** An open session to prompt. Where its child is gone, another one is opened. */
  readonly resident?: ResidentSession;
  /** Whether the session stays open after an end that leaves it usable. @default {false} */
  readonly keep?: boolean;
  /** Told which session is prompted, before it is. */
  readonly onSession?: (resident: ResidentSession) => void;
  /** How long a session may take to open, in milliseconds. @default {SESSION_TIMEOUT_MS} */
  readonly sessionMs?: number;
}

/** How an ask went. */
export interface AskResult {
  /** How the ask ended. */
  readonly end: End;
  /** The answer, or what there is of it; not capped. */
  readonly answer: string;
  /** `provider/model` of the asked agent, where it said so. */
  readonly label?: string;
  /** Tokens of the asked agent's requests, where it told them. */
  readonly usage?: Usage;
  /** Tool calls that the asked agent made. */
  readonly toolCalls: number;
  /** Milliseconds from the ask to its end. */
  readonly durationMs: number;
  /** Tokens of the asked agent's window, where it told them. */
  readonly window?: number;
}

/** How an ask went whose session can stay open. */
export interface ResidentAskResult extends AskResult {
  /** The session, where it was kept. */
  readonly resident?: ResidentSession;
}

/** Asks. Never rejects: every failure is an end. */
export async function ask(options: AskOptions): Promise<ResidentAskResult> {
  return await new Ask(options).run();
}

class Ask {
  readonly #options: AskOptions;
  readonly #answer = new AnswerText();
  readonly #started = performance.now();
  #toolCalls = 0;
  #window: number | undefined;
  #resident: ResidentSession | undefined;
  #reply: ChildReply | undefined;
  /** Whether the agent itself said that it failed: its session is as it was. */
  #failed = false;
  /** Aborted with the end where this side ends the ask. */
  readonly #stopped = new AbortController();
  /** Whatever the asked agent does after the end has no effect. */
  #over = false;

  constructor(options: AskOptions) {
    this.#options = options;
    this.#window = options.window;
  }

  async run(): Promise<ResidentAskResult> {
    const { agent, child, signal, silenceMs } = this.#options;
    const either = AbortSignal.any([signal, this.#stopped.signal]);
    let watchdog: Watchdog | undefined;
    let end: End;
    try {
      // One that served earlier asks can have died without this side knowing yet.
      const used = child.state === "running";
      const running = await this.#running();
      watchdog = new Watchdog({
        timeoutMs: silenceMs,
        onTimeout: () => this.#stop({ kind: "timed_out", afterMs: silenceMs, from: agent }),
      });
      end = await this.#ask(running, { used, watchdog, signal: either });
    } catch (thrown) {
      end = thrown instanceof AskError
        ? thrown.end
        : { kind: "failed", reason: messageOf(thrown), cause: thrown };
    } finally {
      this.#over = true;
      watchdog?.stop();
    }
    // Why it was ended counts for more than how it took that.
    if (signal.aborted) end = { kind: "cancelled" };
    else if (this.#stopped.signal.aborted) end = this.#stopped.signal.reason as End;
    const kept = this.#usable(end) ? this.#resident : undefined;
    if (kept === undefined) void this.#resident?.session.close();
    return this.#result(end, kept);
  }

  /** Whether the session can be prompted again: it answered, and the ask was not given up. */
  #usable({ kind }: End): boolean {
    if (this.#options.keep !== true) return false;
    if (this.#failed && kind === "failed") return true;
    if (this.#reply === undefined) return false;
    return kind === "answered" || kind === "incomplete" || kind === "refused" ||
      kind === "cancelled";
  }

  async #running(): Promise<RunningChild> {
    const { child, cwd, signal, silenceMs, onBusy } = this.#options;
    const helloMs = Math.min(CONNECT_TIMEOUT_MS, Math.max(silenceMs, MIN_CONNECT_MS));
    // A process that starts has a limit of its own; who waits for it is not to give up before.
    onBusy(true);
    try {
      return await child.running({ cwd, helloMs, signal });
    } finally {
      onBusy(false);
    }
  }

  async #ask(
    running: RunningChild,
    options: { readonly used: boolean; readonly watchdog: Watchdog; readonly signal: AbortSignal },
  ): Promise<End> {
    const { agent, child } = this.#options;
    const { used, watchdog, signal } = options;
    try {
      const session = await this.#open(running, signal);
      this.#resident = { session, running };
      watchdog.touch();
      this.#options.onSession?.(this.#resident);
      return await this.#prompt(session, watchdog, signal);
    } catch (thrown) {
      const lost = thrown instanceof ChildError && thrown.kind === "closed";
      if (!lost || signal.aborted) throw thrown;
      const death = await child.death(running);
      // Nothing was asked of it yet: another one is asked.
      if (used && this.#resident === undefined) {
        return await this.#ask(await this.#running(), { ...options, used: false });
      }
      // How the process died says more than that its connection was lost.
      throw new AskError(agent, death);
    }
  }

  async #open(running: RunningChild, signal: AbortSignal): Promise<ChildSession> {
    const { agent, child, cwd, resident, open = newSession } = this.#options;
    const { sessionMs = SESSION_TIMEOUT_MS } = this.#options;
    if (resident?.running === running) return resident.session;
    const timeout = AbortSignal.timeout(sessionMs);
    const either = AbortSignal.any([signal, timeout]);
    try {
      const opening = open(running.connection, { cwd, signal: either });
      return await untilAborted(opening, either);
    } catch (thrown) {
      if (!timeout.aborted || signal.aborted) throw thrown;
      child.kill();
      const reason = `it opened no session within ${formatDuration(sessionMs)}`;
      throw new AskError(agent, { kind: "failed", reason, cause: thrown });
    }
  }

  async #prompt(session: ChildSession, watchdog: Watchdog, signal: AbortSignal): Promise<End> {
    const openCalls = new OpenCalls({
      pause: () => this.#pause(watchdog),
      budgetMs: this.#options.callBudgetMs,
    });
    this.#window = session.window ?? this.#window;
    const { prompt, transcript = "" } = this.#options;
    const fitting = fitTranscript(transcript, prompt, this.#window);
    const replied = session.prompt(withTranscript(fitting, prompt), {
      signal,
      onUpdate: (update) => {
        if (this.#over) return;
        watchdog.touch();
        openCalls.note(update);
        try {
          this.#note(update);
        } catch (thrown) {
          // A front end that does not work must not cost the connection and every other ask on it.
          const reason = `what it did could not be shown: ${messageOf(thrown)}`;
          this.#stop({ kind: "failed", reason, cause: thrown });
        }
      },
      onPermission: async (call, permission) => {
        if (this.#over) return { kind: "cancelled" };
        const resume = watchdog.pause();
        try {
          return await this.#options.onPermission(call, {
            ...permission,
            signal: AbortSignal.any([permission.signal, signal]),
          });
        } finally {
          resume();
        }
      },
    });
    const grace = new CancelGrace({ signal, replied, kill: () => this.#options.child.kill() });
    try {
      this.#reply = await Promise.race([replied, grace.expired]);
      return endOfStop(this.#reply.stop);
    } catch (thrown) {
      this.#failed = thrown instanceof ChildError && thrown.kind === "agent";
      throw thrown;
    } finally {
      openCalls.close();
    }
  }

  #pause(watchdog: Watchdog): () => void {
    const resume = watchdog.pause();
    this.#options.onBusy(true);
    return () => {
      resume();
      this.#options.onBusy(false);
    };
  }

  #stop(end: End): void {
    this.#stopped.abort(end);
  }

  #note(update: ChildUpdate): void {
    this.#answer.note(update);
    if (this.#answer.tooLong) {
      const reason = `its answer is longer than ${MAX_ANSWER} characters`;
      return this.#stop({ kind: "failed", reason });
    }
    if (update.type === "tool_call") this.#toolCalls++;
    if (update.type === "usage") this.#window = update.size ?? this.#window;
    this.#options.onUpdate(update);
  }

  #result(end: End, kept: ResidentSession | undefined): ResidentAskResult {
    const label = this.#reply?.label ?? this.#resident?.session.label;
    const usage = this.#reply?.usage;
    return {
      end,
      answer: this.#answer.text,
      toolCalls: this.#toolCalls,
      durationMs: Math.round(performance.now() - this.#started),
      ...(label === undefined ? {} : { label }),
      ...(usage === undefined ? {} : { usage }),
      ...(this.#window === undefined ? {} : { window: this.#window }),
      ...(kept === undefined ? {} : { resident: kept }),
    };
  }
}

const newSession: OpenSession = (connection, options) => connection.newSession(options);

function endOfStop(stop: ChildStop): End {
  switch (stop) {
    case "end_turn":
      return { kind: "answered" };
    case "max_tokens":
      return { kind: "incomplete", limit: "output" };
    case "max_turn_requests":
      return { kind: "incomplete", limit: "turns" };
    case "loop":
      return { kind: "incomplete", limit: "loop" };
    case "refusal":
      return { kind: "incomplete", limit: "refusal" };
    case "cancelled":
      return { kind: "cancelled" };
    default:
      return {
        kind: "failed",
        reason: `it stopped for a reason mm does not know: "${stop.unknown}"`,
      };
  }
}
