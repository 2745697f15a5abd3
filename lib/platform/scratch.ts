/**
 * A private place for what this process needs in the file system; made when it is first needed.
 *
 * @module
 */
import { rm } from "node:fs/promises";
import { privateTempDir } from "./directories.ts";
import { launcherPath } from "./launcher.ts";
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

/** Creates a place; nothing is written yet. */
export function createScratch(options: { readonly self: SelfCommand }): Scratch {
  let made: Promise<ScratchContents> | undefined;
  return {
    contents: () =>
      made ??= (async () => {
        const directory = await privateTempDir("mm-");
        return { directory, bin: await launcherPath(options.self, directory) };
      })(),
    async close() {
      const contents = await made?.catch(() => undefined);
      made = undefined;
      if (contents !== undefined) await rm(contents.directory, { recursive: true, force: true });
    },
  };
}
