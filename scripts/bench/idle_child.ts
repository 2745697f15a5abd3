/**
 * What the process of an asked agent takes while it waits for the next ask: by itself, and as its share
 * when it runs beside the process that asks, whose pages of the executable are the same.
 *
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises";
import { listOf, processTree } from "../../tests/support/process_tree.ts";
import type { Candidate } from "./candidates.ts";
import { withStage } from "./handover.ts";
import { pssOfProcess } from "./memory.ts";
import { REST_MS } from "./start_rounds.ts";

/** Proportional set sizes, in MiB. */
export interface ChildMemory {
  /** The child, started without a parent, after one answer. */
  readonly alone: number;
  /** The child beside its parent, after one answer. */
  readonly beside: number;
  /** The parent then. */
  readonly parent: number;
}

/**
 * Measures once.
 *
 * @param childArgs with which mm is what its child is.
 * @throws {Error} when the parent has not one child.
 */
export async function measureChild(
  candidate: Candidate,
  childArgs: readonly string[],
): Promise<ChildMemory> {
  const alone = await withStage(withArgs(candidate, childArgs), async (stage) => {
    await stage.initialize();
    const { session } = await stage.open();
    await stage.handOver(session, 0, "FAST");
    await sleep(REST_MS);
    return await pssOfProcess(stage.editor.mm.pid);
  });
  return await withStage(candidate, async (stage) => {
    await stage.initialize();
    const { session } = await stage.open();
    await stage.handOver(session, 1, "FAST");
    await sleep(REST_MS);
    const root = stage.editor.mm.pid;
    const tree = await processTree(root);
    // Beside it there is the shell that would clean up after mm.
    const [child, ...more] = tree.filter(({ parent, command }) =>
      parent === root && /\s-acp\b/u.test(command)
    );
    if (child === undefined || more.length > 0) {
      throw new Error(`There is not one child:\n${listOf(tree)}`);
    }
    return {
      alone,
      beside: await pssOfProcess(child.pid),
      parent: await pssOfProcess(root),
    };
  });
}

function withArgs(candidate: Candidate, args: readonly string[]): Candidate {
  return {
    ...candidate,
    prepare: async (project, url) => ({ ...await candidate.prepare(project, url), args }),
  };
}
