/**
 * A private place for what this process needs in the file system; made when it is first needed.
 *
 * @module
 */
import { rm } from "node:fs/promises";
import { ASK_DEPTH_VARIABLE } from "./ask_depth.ts";
import { privateTempDir } from "./directories.ts";
import { launcherPath } from "./launcher.ts";
import type { Reaper } from "./reaper.ts";
import type { SelfCommand } from "./runtime.ts";

/** What the place holds. */
export interface ScratchContents {
  /** The private directory, absolute. */
  readonly directory: string;
  /** A path that starts this mm. */
  readonly bin: string;
}

/** A private place of one process. */
export interface Scratch {
  /** Makes the place at the first call; later calls return the same. */
  contents(): Promise<ScratchContents>;
  /** Removes it, if it was made. */
  close(): Promise<void>;
}

/** Options of {@linkcode createScratch}. */
export interface ScratchOptions {
  readonly self: SelfCommand;
  /**
   * How deep this process is in a chain of asks. The path that starts mm again carries it, so that a
   * command which drops the variable and its ancestors is still known for what it is.
   */
  readonly depth: number;
  /** Removes the place when this process cannot: it holds the conversation. */
  readonly reaper: Pick<Reaper, "addDir" | "delDir" | "ready">;
}

/** Creates a place; nothing is written yet. */
export function createScratch(options: ScratchOptions): Scratch {
  const { self, depth, reaper } = options;
  let made: Promise<ScratchContents> | undefined;
  return {
    contents: () =>
      made ??= (async () => {
        const directory = await privateTempDir("mm-");
        reaper.addDir(directory);
        await reaper.ready();
        const env = depth === 0 ? {} : { [ASK_DEPTH_VARIABLE]: String(depth) };
        return { directory, bin: await launcherPath({ self, directory, env }) };
      })(),
    async close() {
      const contents = await made?.catch(() => undefined);
      made = undefined;
      if (contents === undefined) return;
      await rm(contents.directory, { recursive: true, force: true });
      reaper.delDir(contents.directory);
    },
  };
}
