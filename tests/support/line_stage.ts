/**
 * Line mode spoken to through a pipe, as its tests do it.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { Keys } from "./agents.ts";
import type { MmProcess } from "./mm.ts";
import type { ModelServer, Rule } from "./model_server.ts";
import { oneAgent } from "./one_agent.ts";
import { type TestProject, withProject } from "./project.ts";

/** What the question ends with; an answer is typed behind it. */
export const ANSWER = "never for this session > ";

/** Line mode of one agent, spoken to through a pipe. */
export interface Stage {
  readonly p: TestProject;
  readonly server: ModelServer;
  readonly mm: MmProcess;
  /** Waits for what comes after everything that was waited for before. */
  readonly expect: (what: string | RegExp) => Promise<readonly string[]>;
  /** Waits for the next prompt and types a line. */
  readonly say: (line: string) => Promise<void>;
  /** Waits for the next permission question, whose text is returned, and types an answer. */
  readonly answer: (line: string) => Promise<string>;
}

/** Runs `body` with line mode; leaves it by the end of its input and checks the status. */
export function inLineMode(
  reply: Rule | readonly Rule[],
  body: (stage: Stage) => Promise<void>,
  keys: Keys = {},
): Promise<void> {
  return withProject(async (p) => {
    const server = await oneAgent(p, reply, keys);
    await drive(p, server, body);
  });
}

/** Runs `body` with line mode of the agents that are configured already. */
export async function drive(
  p: TestProject,
  server: ModelServer,
  body: (stage: Stage) => Promise<void>,
) {
  const mm = p.mm(["-line"]);
  let from = 0;
  const expect = async (what: string | RegExp) => {
    const found = await mm.waitForOutput(what, { from });
    from = found.end;
    return found.match;
  };
  const say = async (line: string) => {
    await expect(/^> /m);
    mm.writeLine(line);
  };
  const answer = async (line: string) => {
    const before = from;
    await expect(ANSWER);
    mm.writeLine(line);
    return mm.output.slice(before, from);
  };
  await body({ p, server, mm, expect, say, answer });
  mm.endInput();
  assert.deepEqual(await mm.exit, { code: 0, signal: null });
}
