/**
 * One run of the benchmark: fresh processes, every measure once.
 *
 * @module
 */
import { tmpdir } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { AcpEditor } from "../../tests/support/acp_editor.ts";
import type { Program } from "../../tests/support/program.ts";
import { type TestProject, testProject } from "../../tests/support/project.ts";
import { peakOfTree, pssOfTree } from "./memory.ts";
import { ASKS, CHUNKS, words } from "./script.ts";

/** Measures by name: milliseconds, or MiB where the name says PSS. */
export type Measures = Record<string, number>;

/** Options of {@linkcode measure}. */
export interface MeasureOptions {
  readonly mm: Program;
  readonly bare: Program;
  /** The port of the benchmark's model server. */
  readonly port: number;
}

/** Processes are given this long to come to rest before their memory is read, in milliseconds. */
const REST_MS = 1000;

/**
 * Runs every measure once.
 *
 * @throws {Error} when an answer did not arrive whole: a fast wrong answer is no measure.
 */
export async function measure(options: MeasureOptions): Promise<Measures> {
  const agent = (more: string) =>
    `provider: llamacpp\nbaseUrl: http://127.0.0.1:${options.port}/v1\nyolo: true\n${more}`;
  const project = await testProject({
    files: {
      "agent.yaml": agent("mmConfigs:\n  bob: {path: bob.yaml, description: answers}\n"),
      "bob.yaml": agent("tools: []\n"),
    },
    // A compiled program keeps the runtime's cache of compiled code there, from its second start on.
    env: { TMPDIR: tmpdir() },
  });
  try {
    return {
      ...await bareMeasures(project, options.bare),
      ...await commandMeasures(project, options.mm),
      ...await conversationMeasures(project, options.mm),
      ...await askMeasures(project, options.mm),
      ...await memoryMeasures(project, options.mm),
    };
  } finally {
    await project.close();
  }
}

async function bareMeasures(project: TestProject, bare: Program): Promise<Measures> {
  const start = await timed(() => succeed(project, [], bare));
  const waiting = project.mm(["wait"], { program: bare });
  await waiting.waitForOutput("bare");
  await sleep(REST_MS);
  const pss = await pssOfTree(waiting.pid, project.mark);
  await waiting.stop();
  return { "bare start": start, "bare PSS": pss };
}

async function commandMeasures(project: TestProject, mm: Program): Promise<Measures> {
  return {
    "-version": await timed(() => succeed(project, ["-version"], mm)),
    "--ask, both processes": await timed(() =>
      succeed(project, ["--ask", "bob", "SUBTASK fast"], mm, "SUBANSWER")
    ),
  };
}

async function conversationMeasures(project: TestProject, program: Program): Promise<Measures> {
  const start = performance.now();
  const editor = project.editor([], { program });
  const session = await editor.start();
  const ready = performance.now() - start;
  const cold = await prompt(editor, session, "PLAIN", "pong");
  const warm = await prompt(editor, session, "PLAIN again", "pong");
  const many = await prompt(editor, session, "MANY", words(CHUNKS).join(""));
  await editor.mm.stop();
  return {
    "spawn to session/new answered": ready,
    "first chunk, first prompt": cold.firstMs,
    "first chunk, warm": warm.firstMs,
    [`${CHUNKS} chunks`]: many.ms,
  };
}

async function askMeasures(project: TestProject, program: Program): Promise<Measures> {
  const editor = project.editor([], { program });
  const session = await editor.start();
  const cold = await prompt(editor, session, "ASK ONE", "DONE 1");
  await prompt(editor, session, "ASK ONE", "DONE 1");
  const warm = await prompt(editor, session, "ASK ONE", "DONE 1");
  const all = await prompt(editor, session, "ASK ALL", `DONE ${ASKS}`);
  const slow = await prompt(editor, session, "ASK SLOW", `DONE ${ASKS}`);
  await editor.mm.stop();
  return {
    "cold ask": cold.ms,
    "warm ask": warm.ms,
    [`${ASKS} asks at once`]: all.ms,
    [`${ASKS} asks of 1 s`]: slow.ms,
  };
}

/** Apart from the timed runs: reading memory takes time from what is measured. */
async function memoryMeasures(project: TestProject, program: Program): Promise<Measures> {
  const editor = project.editor([], { program });
  const session = await editor.start();
  await sleep(REST_MS);
  const idle = await pssOfTree(editor.mm.pid, project.mark);
  await prompt(editor, session, "MANY", words(CHUNKS).join(""));
  const after = await pssOfTree(editor.mm.pid, project.mark);
  const peak = peakOfTree(editor.mm.pid, project.mark);
  await prompt(editor, session, "ASK SLOW", `DONE ${ASKS}`);
  const most = await peak.stop();
  await editor.mm.stop();
  return {
    "PSS idle": idle,
    [`PSS after ${CHUNKS} chunks`]: after,
    [`PSS with ${ASKS} asks`]: most,
  };
}

/** Sends a prompt; returns when its first text and its end came. */
async function prompt(
  editor: AcpEditor,
  session: string,
  text: string,
  expected: string,
): Promise<{ firstMs: number; ms: number }> {
  const before = editor.updates.length;
  const old = new Set(editor.updates);
  const start = performance.now();
  const first = editor.waitForUpdate((update) =>
    update.kind === "agent_message_chunk" && !old.has(update)
  ).then(() => performance.now() - start);
  const answer = editor.prompt(session, text).then(() => performance.now() - start);
  const [firstMs, ms] = await Promise.all([first, answer]);
  const got = editor.updates.slice(before)
    .filter((update) => update.kind === "agent_message_chunk")
    .map((update) => update.update.content.text).join("");
  if (!got.includes(expected.trim())) {
    throw new Error(`The answer to "${text}" is not whole: ${got.slice(0, 200)}`);
  }
  return { firstMs, ms };
}

async function succeed(
  project: TestProject,
  args: readonly string[],
  program: Program,
  expected = "",
): Promise<void> {
  const run = await project.runMm(args, { program });
  if (run.code !== 0 || !run.stdout.includes(expected)) {
    throw new Error(`${program.join(" ")} ${args.join(" ")} failed: ${run.stderr}${run.stdout}`);
  }
}

async function timed(action: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await action();
  return performance.now() - start;
}
