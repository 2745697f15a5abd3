/**
 * How many runs work at the same time: those of all sessions of a process, in the foreground, in the
 * background and continued ones together.
 *
 * @module
 */
import { Slots } from "../agents/slots.ts";
import type { ModelClient } from "../model/types.ts";

/** Runs at the same time where the server is none of this network and does not say. */
const REMOTE_RUNS = 8;

/** Milliseconds in which a server has to say how much it works on at the same time. */
const FACTS_MS = 2000;

/** Options of {@linkcode RunSlots}. */
export interface RunSlotsOptions {
  readonly maxParallel: number | "auto";
  /** The model that the runs ask. */
  readonly model: Pick<ModelClient, "facts" | "url">;
}

/** The slots of one process. */
export class RunSlots {
  readonly #options: RunSlotsOptions;
  #slots: Promise<Slots> | undefined;
  #known: Slots | undefined;

  /** Creates the slots; the server is asked when the first is taken. */
  constructor(options: RunSlotsOptions) {
    this.#options = options;
  }

  /** How many wait for a slot. */
  get waiting(): number {
    return this.#known?.waiting ?? 0;
  }

  /**
   * Takes a slot, waiting for one where none is free; first come, first served.
   *
   * @param options `onQueued` is told when it has to wait, with how many wait before it.
   * @returns a function that gives it back.
   * @throws the signal's reason when it is aborted while waiting.
   */
  async take(
    options: { readonly signal: AbortSignal; readonly onQueued: (before: number) => void },
  ): Promise<() => void> {
    this.#slots ??= this.#create();
    const slots = await this.#slots;
    options.signal.throwIfAborted();
    if (slots.full) options.onQueued(slots.waiting);
    return await slots.take(options);
  }

  async #create(): Promise<Slots> {
    this.#known = new Slots(await parallelRuns(this.#options));
    return this.#known;
  }
}

/** Returns how many runs work at the same time. Never rejects. */
export async function parallelRuns({ maxParallel, model }: RunSlotsOptions): Promise<number> {
  if (maxParallel !== "auto") return maxParallel;
  const facts = await model.facts({ signal: AbortSignal.timeout(FACTS_MS) }).catch(() => undefined);
  return facts?.slots ?? (isNear(model.url) ? 1 : REMOTE_RUNS);
}

/** Says whether an address is of this machine or this network: a server with one graphics card. */
function isNear(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const host = new URL(url).hostname.replace(/^\[|\]$/gu, "").toLowerCase();
  return host === "localhost" || host === "::1" || /\.(?:local|lan|internal|home)$/u.test(host) ||
    !host.includes(".") && !host.includes(":") ||
    /^(?:127\.|10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.)/u.test(host) ||
    /^f(?:[cd]|e[89ab])[0-9a-f]{0,2}:/u.test(host);
}
