/**
 * A path that has to be a directory.
 *
 * @module
 */
import type { Stats } from "node:fs";
import { stat } from "node:fs/promises";
import { errorCode, FileProblem, whyNot } from "./file_problem.ts";
import { missingHint } from "./missing_path.ts";
import { describeKind } from "./open_regular.ts";
import { showPath } from "./tool_paths.ts";

/**
 * Returns what stands at `path`.
 *
 * @param verb what was to be done with it, for the message: `search`, `list`.
 * @param path absolute.
 * @throws {FileProblem} when there is nothing, with the nearest name.
 */
export async function requireExisting(verb: string, path: string, cwd: string): Promise<Stats> {
  try {
    return await stat(path);
  } catch (error) {
    const missing = errorCode(error) === "ENOENT";
    const why = missing
      ? `no such file or directory${await missingHint(path, cwd)}`
      : whyNot(error);
    throw new FileProblem(`Cannot ${verb} "${showPath(path, cwd)}": ${why}`, { cause: error });
  }
}

/**
 * Does nothing for a directory.
 *
 * @throws {FileProblem} for everything else.
 */
export async function requireDirectory(verb: string, path: string, cwd: string): Promise<void> {
  const found = await requireExisting(verb, path, cwd);
  if (found.isDirectory()) return;
  throw new FileProblem(
    `Cannot ${verb} "${showPath(path, cwd)}": it is ${describeKind(found)}, not a directory`,
  );
}
