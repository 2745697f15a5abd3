/**
 * Programs that mm runs by itself.
 *
 * @module
 */
import { isWithin } from "../base/is_within.ts";
import { findOnPath } from "./spawn_group.ts";

/**
 * Returns the path of a program on the `PATH` of `env`, or `undefined`. One that lies in the working
 * directory is not taken: it could come with the project, and nobody is asked before it runs.
 *
 * @param cwd absolute.
 */
export async function findOutside(
  name: string,
  { env, cwd }: { readonly env: Readonly<Record<string, string>>; readonly cwd: string },
): Promise<string | undefined> {
  const path = await findOnPath(name, env);
  return path === undefined || isWithin(cwd, path) ? undefined : path;
}
