/**
 * Real paths of what may not exist yet.
 *
 * @module
 */
import { realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** Returns an absolute path with symbolic links resolved in as much of it as exists. */
export async function plannedPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(await plannedPath(above), basename(path));
  }
}
