/**
 * What every mode of the command line gets, and what it gives back.
 *
 * @module
 */
import type { TerminalInfo } from "../platform/terminal.ts";
import type { CommandLine, Mode } from "./command_line.ts";

/** The process as modes see it. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where mm was started, absolute. */
  readonly cwd: string;
  readonly terminal: TerminalInfo;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/** Options of a mode. */
export interface ModeOptionsOf<Kind extends Mode["kind"]> {
  readonly mode: Extract<Mode, { kind: Kind }>;
  readonly options: CommandLine["options"];
  readonly io: Io;
  readonly lifetime: Lifetime;
}

/** How long this process lives, and what it ends when it ends. */
export interface Lifetime {
  /** Aborted when the process is told to end. */
  readonly signal: AbortSignal;
  /** Registers what has to be ended; the last one first. */
  add(close: () => Promise<void>): void;
  /** Ends everything; called once, or again with no effect. */
  end(): Promise<void>;
}

/** Creates a lifetime. */
export function createLifetime(): Lifetime {
  const controller = new AbortController();
  const closers: (() => Promise<void>)[] = [];
  let ended: Promise<void> | undefined;
  return {
    signal: controller.signal,
    add: (close) => void closers.push(close),
    end() {
      return ended ??= (async () => {
        controller.abort();
        for (const close of closers.reverse()) {
          // What cannot be ended must not keep the others running.
          await close().catch(() => {});
        }
      })();
    },
  };
}
