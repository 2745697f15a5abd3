/**
 * The processes of subagents: one child mm for each definition, started at its first run and shared
 * by all runs of it.
 *
 * @module
 */
import { ChildAgent } from "../agents/child_agent.ts";
import type { ConnectChild } from "../agents/child_connection.ts";
import type { StartChild } from "../platform/process.ts";
import type { SelfCommand } from "../platform/runtime.ts";
import { subagentEnvironment } from "./subagent_environment.ts";

/** Options of {@linkcode SubagentChildren}. */
export interface SubagentChildrenOptions {
  /** How this program is started again. */
  readonly self: SelfCommand;
  /** The configuration file of this agent, absolute; absent for the built-in defaults. */
  readonly configFile: string | undefined;
  /** What that file held when it was read: the children have to find the same. */
  readonly configDigest?: string | undefined;
  /** The model that the command line or the configuration names, absent where the server decides. */
  readonly model: string | undefined;
  /** This process's environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How deep this process is in a chain of asks. */
  readonly depth: number;
  /**
   * Returns where the subagents of a name save their conversations, absolute; `undefined` where they
   * save none.
   */
  readonly stateDir: (name: string) => Promise<string | undefined>;
  readonly start: StartChild;
  readonly connect: ConnectChild;
  /** Takes secrets out of what children write on stderr. */
  readonly redact: (text: string) => string;
}

/** Whom a child serves. */
export interface ChildKey {
  /** The definition's name, or `fork`. */
  readonly name: string;
  /** Of the definition: another one is another child. */
  readonly version: string;
  /** The directory of the session that delegates, absolute: definitions are looked for there. */
  readonly cwd: string;
}

/**
 * Children that wait for another run; of more, the ones that waited longest end. What their runs know is
 * saved, and a model can write definitions without end.
 */
const MAX_IDLE = 8;

/** One child, and how many runs it carries out. */
interface Entry {
  readonly child: Promise<ChildAgent>;
  users: number;
}

/** The children of one process. */
export class SubagentChildren {
  readonly #options: SubagentChildrenOptions;
  /** The one that was used last stands last. */
  readonly #children = new Map<string, Entry>();
  /** Those that were ended for others, until they are gone. */
  readonly #ending = new Map<string, Promise<unknown>>();
  #closed = false;

  /** Creates the table; no child is started. */
  constructor(options: SubagentChildrenOptions) {
    this.#options = options;
  }

  /** Carries out a task with the child of a definition, the same for the same key. */
  async use<T>(key: ChildKey, task: (child: ChildAgent) => Promise<T>): Promise<T> {
    const entry = this.#entryOf(key);
    entry.users++;
    try {
      return await task(await entry.child);
    } finally {
      entry.users--;
      this.#endIdle();
    }
  }

  /** Whether the child of a definition runs. */
  async runs(key: ChildKey): Promise<boolean> {
    const child = await this.#children.get(keyOf(key))?.child.catch(() => undefined);
    return child?.state === "running";
  }

  /** Ends every child, for good; returns when they are gone. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...[...this.#children.values()].map(ended), ...this.#ending.values()]);
  }

  #entryOf(key: ChildKey): Entry {
    const name = keyOf(key);
    const entry = this.#children.get(name) ?? {
      users: 0,
      child: this.#create(key).catch((thrown) => {
        // The next run tries again.
        this.#children.delete(name);
        throw thrown;
      }),
    };
    this.#children.delete(name);
    this.#children.set(name, entry);
    return entry;
  }

  #endIdle(): void {
    const idle = [...this.#children].filter(([, { users }]) => users === 0);
    for (const [name, entry] of idle.slice(0, Math.max(0, idle.length - MAX_IDLE))) {
      this.#children.delete(name);
      const gone = ended(entry).finally(() => this.#ending.delete(name));
      this.#ending.set(name, gone);
    }
  }

  async #create(key: ChildKey): Promise<ChildAgent> {
    const { self, configFile, configDigest, model, env, depth } = this.#options;
    const { name, version, cwd } = key;
    // It holds the conversations that the next one may have to go on with.
    await this.#ending.get(keyOf(key));
    const stateDir = await this.#options.stateDir(name);
    if (this.#closed) throw new Error("mm is ending");
    const { start, connect, redact } = this.#options;
    return new ChildAgent({
      name,
      command: [
        ...self,
        "-acp",
        "-agent",
        name,
        // Never one that is found: a model could have written it since this process began.
        ...(configFile === undefined ? ["-defaults"] : ["-config", configFile]),
        ...(model === undefined ? [] : ["-model", model]),
      ],
      env: subagentEnvironment({ env, depth, stateDir, configDigest, version }),
      // Where its definition was found: the run may work in a worktree that has others.
      start: (options) => start({ ...options, cwd }),
      connect,
      redact,
    });
  }
}

/** Ends a child; one that could not be made has nothing to end. */
async function ended({ child }: Entry): Promise<void> {
  await (await child.catch(() => undefined))?.stop();
}

function keyOf({ name, version, cwd }: ChildKey): string {
  return JSON.stringify([cwd, name.toLowerCase(), version]);
}
