/** Processes of a chain of asks that are killed at random: nothing is left, and the next ask works. */
import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { AcpEditor } from "./support/acp_editor.ts";
import { dig, grown, PONG, TWO_SLEEPS, writeDiggers } from "./support/asking_tree.ts";
import { listOf, treeOf, type TreeProcess, waitForTree, waitGone } from "./support/process_tree.ts";
import { withProject } from "./support/project.ts";

/** Set `MM_TEST_ROUNDS` for more: 100 take some minutes. */
const ROUNDS = Number(process.env.MM_TEST_ROUNDS ?? 15);

/** Set `MM_TEST_SEED` to see another row of accidents. */
const SEED = Number(process.env.MM_TEST_SEED ?? 20_261_130);

/** How long anything may run after the process it belongs to was killed. */
const GONE_MS = 2000;

/** Where a chain is killed while it still grows: the latest moment, in milliseconds. */
const GROWING_MS = 1200;

/** How long an ask has to notice a kill before it is cancelled; one of a helper is never noticed. */
const NOTICE_MS = 1000;

test(`${ROUNDS} random kills (seed ${SEED}): nothing is left, and the next ask works`, () =>
  withProject(async (p) => {
    const random = mulberry32(SEED);
    const server = await writeDiggers(p, TWO_SLEEPS);
    let editor: AcpEditor | undefined;
    let session = "";
    for (let round = 1; round <= ROUNDS; round++) {
      if (editor === undefined) {
        editor = p.editor();
        session = await editor.start();
      }
      const { mm } = editor;
      const look = () => treeOf(mm.pid, p.mark);
      let over = false;
      const asked = dig(editor, session).finally(() => over = true);
      const isGrown = random() < 0.5;
      if (isGrown) await grown(p, mm, server, TWO_SLEEPS);
      else await sleep(random() * GROWING_MS);

      const tree = await look();
      const victim = tree[Math.floor(random() * tree.length)];
      assert.ok(victim !== undefined);
      const signal = random() < 0.7 ? "SIGKILL" : "SIGTERM";
      const what = `round ${round}: ${signal} of "${victim.command.slice(-60)}" ` +
        `in ${isGrown ? "a chain" : "a growing chain"} of ${tree.length}`;
      kill(victim.pid, signal);
      try {
        if (victim.pid === mm.pid) {
          await waitGone(tree, GONE_MS);
          await waitForTree(look, (left) => left.length === 0, { timeoutMs: GONE_MS });
          await asked;
          editor = undefined;
          continue;
        }
        if (isGrown && isNoticed(victim)) await asked;
        else {
          await Promise.race([asked, sleep(NOTICE_MS)]);
          if (!over) editor.cancel(session);
          await asked;
        }
        const before = editor.text(session).length;
        await editor.prompt(session, "/ask-bob ping");
        assert.equal(editor.text(session).slice(before), PONG);
        await waitForTree(look, isQuiet, { timeoutMs: GONE_MS });
      } catch (error) {
        throw new Error(`${what}: ${(error as Error).message}\nThe chain was:\n${listOf(tree)}`, {
          cause: error,
        });
      }
    }
    if (editor === undefined) return;
    const last = await treeOf(editor.mm.pid, p.mark);
    editor.mm.endInput();
    await waitGone(last, GONE_MS);
  }));

/** Whether the end of a process ends the ask: not that of a helper, or of a process in the background. */
function isNoticed({ command }: TreeProcess): boolean {
  return !command.includes("mm-reaper") && command !== "sleep 300";
}

/** Whether nothing of the work is left, and no agent runs twice. */
function isQuiet(tree: readonly TreeProcess[]): boolean {
  const count = (text: string) => tree.filter(({ command }) => command.includes(text)).length;
  return count("sleep 30") === 0 && count("bob.yaml") === 1 && count("riker.yaml") <= 1;
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended by itself between the look and the kill.
  }
}

/** A small generator of numbers from 0 to 1, the same for the same seed. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
