/**
 * The executables that are measured, compiled anew where what they are made of has changed.
 *
 * @module
 */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Program } from "../../tests/support/program.ts";
import { ROOT } from "../checks/repository.ts";
import { compile, EXECUTABLE } from "../compile.ts";

/** The source of the bare program, absolute. */
export const BARE_ENTRY: string = join(ROOT, "scripts", "bench", "bare.ts");

/** How every executable is made. */
const MAKERS = ["bundle.ts", "compile.ts"].map((name) => join(ROOT, "scripts", name));

/**
 * Returns the compiled bare program.
 *
 * @throws {Error} when it cannot be compiled, with what to do.
 */
export async function compiledBare(): Promise<Program> {
  const executable = join(ROOT, "build", "bare");
  if (await changed(executable) < await newest([BARE_ENTRY, ...MAKERS])) {
    await compile({ entry: BARE_ENTRY, folder: join(ROOT, "build", "bare-bundle"), executable });
  }
  return [executable];
}

/**
 * Returns the compiled mm.
 *
 * @throws {Error} when it cannot be compiled, with what to do.
 */
export async function compiledMm(): Promise<Program> {
  const entry = join(ROOT, "cli.ts");
  const lib = join(ROOT, "lib");
  const sources = (await readdir(lib, { recursive: true })).filter((name) =>
    name.endsWith(".ts") && !name.endsWith("_test.ts")
  );
  const paths = [entry, ...MAKERS, ...sources.map((name) => join(lib, name))];
  if (await changed(EXECUTABLE) < await newest(paths)) {
    await compile({ entry, folder: join(ROOT, "build", "bundle"), executable: EXECUTABLE });
  }
  return [EXECUTABLE];
}

async function newest(paths: readonly string[]): Promise<number> {
  return Math.max(...await Promise.all(paths.map(changed)));
}

/** When a file was changed, in milliseconds; 0 where there is none. */
async function changed(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined);
  return found?.mtimeMs ?? 0;
}
