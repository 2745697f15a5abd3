/**
 * One agent that hands work over while a scripted model server plays both models: what the prompts
 * mean, and how long they take.
 *
 * @module
 */
import { type PeerModel, type PeerScript, startPeerModel } from "../../tests/interop/peer_model.ts";
import type { PeerDelegation } from "../../tests/interop/peers.ts";
import { AcpEditor } from "../../tests/support/acp_editor.ts";
import { startMm } from "../../tests/support/mm.ts";
import { type TestProject, testProject } from "../../tests/support/project.ts";
import type { Candidate } from "./candidates.ts";
import { note } from "./table.ts";

/** What a subagent answers. */
const ANSWER = "SUBANSWER forty-two";

/** Hand-overs at the same time. */
export const MANY = 8;

/** How long a slow subagent takes, in milliseconds. */
const SLOW_MS = 1000;

/** How long one prompt, or a start, may take, in milliseconds. */
const LIMIT_MS = 120_000;

/** Rounds after which a model stops to collect answers that do not come. */
const MAX_RESULTS = 100;

/**
 * Returns the script of both models: the main one hands over as often as its prompt says, a subagent
 * answers, at once or slowly.
 */
export function handOverScript({ call, collect, ...delegation }: PeerDelegation): PeerScript {
  const answer = delegation.answer ?? ((text) => ({ text }));
  const answered = delegation.answered ?? ((results) => results.filter(holdsAnswer).length);
  return ({ question, results, tools }) => {
    const main = question.lastIndexOf("MAIN-");
    const sub = question.lastIndexOf("SUB-");
    if (sub > main) {
      const slow = question.slice(sub).startsWith("SUB-SLOW");
      return { ...answer(ANSWER), ...(slow ? { delayMs: SLOW_MS } : {}) };
    }
    // Programs ask models for titles, summaries and suggestions as well.
    if (main < 0 || !tools.includes(call("").name)) return { text: "ok" };
    const [, count = "0", kind = "FAST"] = /MAIN-(\d+)-(\w+)/u.exec(question.slice(main)) ?? [];
    if (Number(count) === 0) return { text: "pong" };
    if (results.length > 0) {
      const more = results.length < MAX_RESULTS ? collect?.(results) ?? [] : [];
      if (more.length > 0) return { calls: more };
      const answers = answered(results);
      if (answers === Number(count)) return { text: `MAINDONE ${count}` };
      const other = results.find((one) => !holdsAnswer(one)) ?? results[0];
      return { text: `NOT DONE ${answers} of ${count}: ${other?.slice(0, 200)}` };
    }
    return {
      calls: Array.from(
        { length: Number(count) },
        (_, at) => call(`SUB-${kind} item ${at}: answer now`),
      ),
    };
  };
}

function holdsAnswer(result: string): boolean {
  return result.includes(ANSWER);
}

/** A started agent. */
export interface Stage {
  readonly project: TestProject;
  readonly model: PeerModel;
  readonly editor: AcpEditor;
  /** When it was started, by the clock of `performance`. */
  readonly started: number;
  /** Sends `initialize`; returns the milliseconds from the start to its answer. */
  initialize(): Promise<number>;
  /** Opens a session; returns its id, and the milliseconds from the start to the answer. */
  open(): Promise<{ readonly session: string; readonly ms: number }>;
  /**
   * Has the agent hand over `count` times in one prompt; returns how long that took, in milliseconds.
   *
   * @throws {Error} when an answer did not come back: a fast wrong answer is no measure.
   */
  handOver(session: string, count: number, kind: "FAST" | "SLOW"): Promise<number>;
}

/** Starts an agent in a project of its own, runs `body` with it, and ends both. */
export async function withStage<T>(
  candidate: Candidate,
  body: (stage: Stage) => Promise<T>,
): Promise<T> {
  const model = await startPeerModel(handOverScript(candidate.delegation));
  const project = await testProject();
  let editor: AcpEditor | undefined;
  try {
    const { program, args, env } = await candidate.prepare(project, model.url);
    const started = performance.now();
    const mm = startMm(args, { program, cwd: project.dir, env: { ...project.env, ...env } });
    editor = new AcpEditor(mm, { cwd: project.dir });
    editor.onPermission = (question) =>
      question.choose(
        question.options.find(({ kind }) => kind === "allow_always")?.kind ?? "allow_once",
      );
    return await body(stageOf(project, model, editor, started));
  } finally {
    await editor?.mm.stop().catch(() => {});
    await project.close().catch((error: Error) => note(error.message));
    await model[Symbol.asyncDispose]();
  }
}

function stageOf(
  project: TestProject,
  model: PeerModel,
  editor: AcpEditor,
  started: number,
): Stage {
  const limit = { timeoutMs: LIMIT_MS };
  return {
    project,
    model,
    editor,
    started,
    async initialize() {
      await editor.request("initialize", {
        protocolVersion: 1,
        clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
        clientInfo: { name: "bench", version: "1" },
      }, limit);
      return performance.now() - started;
    },
    async open() {
      const params = { cwd: project.dir, mcpServers: [] };
      const { sessionId } = await editor.request("session/new", params, limit);
      return { session: sessionId as string, ms: performance.now() - started };
    },
    async handOver(session, count, kind) {
      const before = editor.text(session).length;
      const start = performance.now();
      const prompt = [{ type: "text", text: `MAIN-${count}-${kind} please` }];
      await editor.request("session/prompt", { sessionId: session, prompt }, limit);
      const took = performance.now() - start;
      const said = editor.text(session).slice(before);
      if (count > 0 && !said.includes(`MAINDONE ${count}`)) {
        throw new Error(`The answer is not whole: ${said.slice(-300)}`);
      }
      return took;
    },
  };
}
