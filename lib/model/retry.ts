/**
 * What happens after a failed attempt: one table, and the waits it leads to.
 *
 * @module
 */
import type { Failure } from "./failure.ts";
import { meansContextExceeded } from "./server_words.ts";
import type { ModelErrorKind } from "./types.ts";

/** How often an attempt is repeated: not at all, a few times, or for as long as patience lasts. */
export type RetryHow = "never" | "few" | "patience";

/** A row of the table. */
export interface RetryRule {
  readonly when: (failure: Failure) => boolean;
  readonly retry: RetryHow;
  /** Which of the longest waits counts. @default {"capMs"} */
  readonly cap?: "pollMs" | "capMs" | "slowMs";
  /** What the failure is when no attempt is left. */
  readonly kind: ModelErrorKind;
}

const isStatus = (test: (status: number) => boolean) => (failure: Failure) =>
  failure.status !== undefined && test(failure.status);

const LOADING = /loading|starting|warming|initiali[sz]ing|not (yet )?ready|being loaded/iu;

/** An account without money; unlike a rate limit this does not pass by waiting. */
const SPENT = /insufficient[_ ](quota|balance|credit|fund)|out of credits/iu;

/** The table: the first row that matches decides. */
export const RETRY_TABLE: readonly RetryRule[] = [
  // A server that is not up yet.
  { when: (f) => f.condition === "refused", retry: "patience", cap: "pollMs", kind: "unreachable" },
  { when: (f) => f.condition === "certificate", retry: "never", kind: "unreachable" },
  { when: (f) => f.condition === "unknown_host", retry: "few", kind: "unreachable" },
  { when: (f) => f.condition === "connection", retry: "few", kind: "unreachable" },
  { when: (f) => f.condition === "no_room", retry: "never", kind: "context_exceeded" },
  { when: (f) => f.condition === "not_an_answer", retry: "never", kind: "malformed" },
  { when: (f) => f.condition === "garbled", retry: "few", kind: "malformed" },
  { when: (f) => f.condition === "ended_early", retry: "few", kind: "malformed" },
  {
    when: (f) => f.status !== 401 && f.status !== 403 && meansContextExceeded(f.words),
    retry: "never",
    kind: "context_exceeded",
  },
  {
    when: (f) => f.status === 503 && LOADING.test(f.words.text),
    retry: "patience",
    cap: "pollMs",
    kind: "unreachable",
  },
  {
    when: (f) =>
      (f.status === 429 || f.status === 402) && SPENT.test(`${f.words.code} ${f.words.text}`),
    retry: "never",
    kind: "server",
  },
  { when: isStatus((s) => s === 429), retry: "patience", cap: "slowMs", kind: "server" },
  { when: isStatus((s) => s === 408 || s === 409 || s === 425), retry: "few", kind: "server" },
  { when: isStatus((s) => s === 501 || s === 505), retry: "never", kind: "server" },
  { when: isStatus((s) => s >= 500), retry: "few", kind: "server" },
  {
    when: (f) =>
      f.condition === "error_inside" && /overloaded|rate_limit/iu.test(f.words.code ?? ""),
    retry: "few",
    kind: "server",
  },
  { when: () => true, retry: "never", kind: "server" },
];

/** The numbers of the waits. */
export interface RetryTiming {
  /** The first wait, in milliseconds; each next one is twice as long. @default {500} */
  readonly baseMs: number;
  /** Longest wait for a server that starts or loads, in milliseconds. @default {2000} */
  readonly pollMs: number;
  /** Longest wait after most failures, in milliseconds. @default {8000} */
  readonly capMs: number;
  /** Longest wait for a server that limits the rate, in milliseconds. @default {30000} */
  readonly slowMs: number;
  /** Longest wait that a server may ask for, in milliseconds. @default {60000} */
  readonly maxRetryAfterMs: number;
  /** Attempts after the first one, where a row says `few`. @default {4} */
  readonly few: number;
  /** A number from 0 up to 1. @default {Math.random} */
  readonly random: () => number;
}

/** The numbers used outside of tests. */
export const RETRY_TIMING: RetryTiming = {
  baseMs: 500,
  pollMs: 2000,
  capMs: 8000,
  slowMs: 30_000,
  maxRetryAfterMs: 60_000,
  few: 4,
  random: Math.random,
};

/** Returns the row that decides about a failure. */
export function ruleFor(failure: Failure): RetryRule {
  // The last row takes everything.
  return RETRY_TABLE.find((rule) => rule.when(failure)) ?? RETRY_TABLE[RETRY_TABLE.length - 1]!;
}

/** What is known when the next wait is decided. */
export interface RetryState {
  /** Attempts made so far, the failed one included. */
  readonly attempts: number;
  /** Milliseconds since the first failure. */
  readonly waitedMs: number;
  /** Longest time from the first failure to the last attempt, in milliseconds. */
  readonly patienceMs: number;
  readonly timing: RetryTiming;
}

/** Returns how many milliseconds to wait before the next attempt, or `undefined` for none. */
export function nextWait(failure: Failure, state: RetryState): number | undefined {
  const { timing } = state;
  const rule = ruleFor(failure);
  if (rule.retry === "never") return undefined;
  if (rule.retry === "few" && state.attempts > timing.few) return undefined;
  const left = state.patienceMs - state.waitedMs;
  if (left <= 0) return undefined;
  const cap = timing[rule.cap ?? "capMs"];
  // At least three quarters of the step, so that many clients do not come back at the same moment.
  const step = Math.min(cap, timing.baseMs * 2 ** Math.min(state.attempts - 1, 16)) *
    (0.75 + 0.25 * timing.random());
  // A server that says 0 is still given a moment: it is the one that is overloaded.
  const wait = failure.retryAfterMs === undefined
    ? step
    : Math.max(Math.min(failure.retryAfterMs, timing.maxRetryAfterMs), Math.min(step, 250));
  return Math.round(Math.min(wait, left));
}

/**
 * Waits, and stops at once when the signal says so.
 *
 * @throws the signal's reason.
 */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let wake = () => {};
  try {
    await new Promise<void>((resolve) => {
      wake = resolve;
      timer = setTimeout(resolve, ms);
      signal.addEventListener("abort", wake, { once: true });
    });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", wake);
  }
  signal.throwIfAborted();
}
