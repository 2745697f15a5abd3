/**
 * Which child carries out a run.
 *
 * @module
 */
import { FORK } from "./definition_name.ts";
import type { RunTarget } from "./run.ts";
import type { ChildKey } from "./subagent_children.ts";

/**
 * Returns the child of a run that a subagent carries out.
 *
 * @param cwd the directory of the session that delegates, absolute.
 */
export function childKeyOf(target: RunTarget, cwd: string): ChildKey {
  if (target.kind !== "definition") return { name: FORK, version: "", cwd };
  const { name, version } = target.definition;
  return { name, version, cwd };
}
