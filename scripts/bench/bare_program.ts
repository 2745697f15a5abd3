/**
 * The bare program, compiled as mm is.
 *
 * @module
 */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Program } from "../../tests/support/program.ts";
import { ROOT } from "../checks/repository.ts";
import { compile } from "../compile.ts";

/** The source of the bare program, absolute. */
export const BARE_ENTRY: string = join(ROOT, "scripts", "bench", "bare.ts");

/** What the executable depends on. */
const SOURCES = [BARE_ENTRY, join(ROOT, "scripts", "compile.ts")];

/** Returns the compiled bare program; compiles it where that was not done yet, or otherwise. */
export async function compiledBare(): Promise<Program> {
  const executable = join(ROOT, "build", "bare");
  const made = await changed(executable);
  const sources = await Promise.all(SOURCES.map(changed));
  if (sources.some((at) => at >= made)) {
    await compile({ entry: BARE_ENTRY, folder: join(ROOT, "build", "bare-bundle"), executable });
  }
  return [executable];
}

/** When a file was changed, in milliseconds; 0 where there is none. */
async function changed(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined);
  return found?.mtimeMs ?? 0;
}
