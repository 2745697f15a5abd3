/**
 * Scripts that ask bob: the project they run in, and what is left of it.
 *
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Keys, writeAgents } from "./agents.ts";
import { processesOf } from "./leftovers.ts";
import type { RunResult } from "./mm.ts";
import { forModel, type ModelServer, type Rule } from "./model_server.ts";
import { programUnderTest } from "./program.ts";
import { type ProjectStartOptions, type TestProject, withProject } from "./project.ts";

/** What a script meets. */
export interface Script {
  /** How bob's model answers. */
  readonly bob?: readonly Rule[];
  readonly you?: Keys;
  readonly bobKeys?: Keys;
  readonly bobEntry?: Keys;
}

/** A project whose bob answers by `script`. */
export function withBob(
  script: Script,
  body: (p: TestProject, server: ModelServer) => Promise<void>,
): Promise<void> {
  return withProject(async (p) => {
    const server = await p.model({ reply: forModel("bob", ...script.bob ?? []) });
    await writeAgents(p, {
      server,
      ...(script.you === undefined ? {} : { you: script.you }),
      ...(script.bobKeys === undefined ? {} : { bob: script.bobKeys }),
      ...(script.bobEntry === undefined ? {} : { bobEntry: script.bobEntry }),
    });
    await body(p, server);
  });
}

/** Runs a line of bash in which `"$@"` is mm. */
export function shell(
  p: TestProject,
  line: string,
  options: ProjectStartOptions = {},
): Promise<RunResult> {
  return p.runMm(programUnderTest(), { ...options, program: ["/bin/bash", "-c", line, "bash"] });
}

/** The tool results that a model was given, in order, as its last request has them. */
export function resultsOf(server: ModelServer, model = "bob"): string[] {
  const last = server.requests.filter((r) => r.model === model).at(-1);
  return (last?.messages ?? []).filter((m) => m.role === "tool").map((m) => String(m.content));
}

/** Waits for something that no event tells of. */
export async function until(holds: () => boolean): Promise<void> {
  for (const end = performance.now() + 10_000; !holds(); await sleep(20)) {
    if (performance.now() > end) throw new Error("Waited 10 s in vain");
  }
}

/** Waits until only these of the project's processes run. */
export async function onlyLeft(
  p: TestProject,
  pids: readonly number[],
  withinMs: number,
): Promise<void> {
  const end = performance.now() + withinMs;
  for (;;) {
    const others = (await processesOf(p.mark)).filter(({ pid }) => !pids.includes(pid));
    if (others.length === 0) return;
    if (performance.now() > end) {
      throw new Error(`Left after ${withinMs} ms: ${others.map((o) => o.command).join("; ")}`);
    }
    await sleep(25);
  }
}
