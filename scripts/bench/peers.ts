/**
 * `deno task bench:peers [--program source|'["mm", …]'] [--runs 3]`: what a hand-over costs, in mm and in
 * agents of others, in the same run and against the same model server. Theirs run inside their own
 * process; mm's is another process. Linux only: memory is read in `/proc`.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import {
  missing,
  NODE_PACKAGE,
  nodePath,
  type Peer,
  PEERS,
  PEERS_DIR,
} from "../../tests/interop/peers.ts";
import { type PeerModel, type PeerReply, startPeerModel } from "../../tests/interop/peer_model.ts";
import { AcpEditor } from "../../tests/support/acp_editor.ts";
import { startMm } from "../../tests/support/mm.ts";
import { treeOf } from "../../tests/support/process_tree.ts";
import type { Program } from "../../tests/support/program.ts";
import { type TestProject, testProject } from "../../tests/support/project.ts";
import { ROOT } from "../checks/repository.ts";
import { installPackage } from "../peers/install.ts";

/** Hand-overs at the same time. */
const MANY = 8;

/** How long a slow subagent takes, in milliseconds. */
const SLOW_MS = 1000;

/** How long one prompt may take, in milliseconds. */
const PROMPT_MS = 120_000;

/** How often memory is read while its peak is looked for, in milliseconds. */
const SAMPLE_MS = 50;

const COLUMNS = ["ready", "cold ask", "warm ask", "8 at once", "8 of 1 s", "PSS with 8"] as const;

type Row = Record<typeof COLUMNS[number], number>;

/** An agent that hands over. */
interface Candidate {
  readonly name: string;
  readonly call: (prompt: string) => { readonly name: string; readonly arguments: unknown };
  /** Program, arguments and variables, in a project of its own. */
  readonly prepare: (project: TestProject, url: string) => Promise<{
    readonly program: Program;
    readonly args: readonly string[];
    readonly env: Readonly<Record<string, string>>;
  }>;
}

const { values } = parseArgs({
  options: {
    program: {
      type: "string",
      default: existsSync(join(ROOT, "build", "mm")) ? "compiled" : "source",
    },
    runs: { type: "string", default: "3" },
  },
});

function mmProgram(): Program {
  if (values.program === "source") {
    return [process.execPath, "run", "-A", "--no-check", join(ROOT, "cli.ts")];
  }
  return values.program === "compiled"
    ? [join(ROOT, "build", "mm")]
    : JSON.parse(values.program) as Program;
}

const MM: Candidate = {
  name: `mm (${values.program})`,
  call: (prompt) => ({ name: "ask_agent", arguments: { agent: "bob", prompt } }),
  async prepare(project, url) {
    const agent = { provider: "custom", baseUrl: url, model: "mock", yolo: true };
    const bob = { path: "bob.yaml", description: "answers" };
    await project.write("agent.yaml", JSON.stringify({ ...agent, mmConfigs: { bob } }));
    await project.write("bob.yaml", JSON.stringify({ ...agent, tools: [] }));
    return { program: mmProgram(), args: ["-acp"], env: {} };
  },
};

function candidateOf(peer: Peer): Candidate | undefined {
  const { delegate } = peer;
  if (delegate === undefined) return undefined;
  return {
    name: peer.name,
    call: delegate,
    async prepare(project, url) {
      const home = join(project.home, peer.name);
      await mkdir(home, { recursive: true });
      const entry = await peer.entry({ url, home });
      const [program, ...args] = entry["command"] as [string, ...string[]];
      return { program: [program], args, env: entry["env"] as Record<string, string> };
    },
  };
}

/** The main model hands over as often as its prompt says; a subagent answers, at once or slowly. */
function scriptOf(candidate: Candidate) {
  return (
    { question, results, tools }: {
      question: string;
      results: readonly string[];
      tools: readonly string[];
    },
  ): PeerReply => {
    const main = question.lastIndexOf("MAIN-");
    const sub = question.lastIndexOf("SUB-");
    if (sub > main) {
      const slow = question.slice(sub).startsWith("SUB-SLOW");
      return { text: "SUBANSWER forty-two", ...(slow ? { delayMs: SLOW_MS } : {}) };
    }
    if (main < 0 || !tools.includes(candidate.call("").name)) return { text: "ok" };
    const [, count = "0", kind = "FAST"] = /MAIN-(\d+)-(\w+)/u.exec(question.slice(main)) ?? [];
    if (Number(count) === 0) return { text: "pong" };
    if (results.length > 0) {
      return { text: `MAINDONE ${results.filter((one) => one.includes("SUBANSWER")).length}` };
    }
    const calls = Array.from(
      { length: Number(count) },
      (_, at) => candidate.call(`SUB-${kind} item ${at}: answer now`),
    );
    return { calls };
  };
}

async function once(candidate: Candidate, memory: boolean): Promise<Partial<Row>> {
  const model = await startPeerModel(scriptOf(candidate));
  const project = await testProject();
  const started = performance.now();
  let editor: AcpEditor | undefined;
  try {
    editor = await open(candidate, project, model);
    const session = await editor.start();
    const ready = performance.now() - started;
    const cold = await ask(editor, session, 1, "FAST");
    await ask(editor, session, 1, "FAST");
    const warm = await ask(editor, session, 1, "FAST");
    const all = await ask(editor, session, MANY, "FAST");
    const peak = memory ? peakOf(project, editor.mm.pid) : undefined;
    const slow = await ask(editor, session, MANY, "SLOW");
    const pss = await peak?.stop();
    return pss === undefined
      ? { ready, "cold ask": cold, "warm ask": warm, "8 at once": all, "8 of 1 s": slow }
      : { "PSS with 8": pss };
  } finally {
    await editor?.mm.stop().catch(() => {});
    await project.close().catch((error: Error) => process.stderr.write(`${error.message}\n`));
    await model[Symbol.asyncDispose]();
  }
}

async function open(
  candidate: Candidate,
  project: TestProject,
  model: PeerModel,
): Promise<AcpEditor> {
  const { program, args, env } = await candidate.prepare(project, model.url);
  const mm = startMm(args, { program, cwd: project.dir, env: { ...project.env, ...env } });
  const editor = new AcpEditor(mm, { cwd: project.dir });
  editor.onPermission = (question) =>
    question.choose(
      question.options.find(({ kind }) => kind === "allow_always")?.kind ?? "allow_once",
    );
  return editor;
}

/** Hands over `count` times in one prompt; returns how long that took, in milliseconds. */
async function ask(
  editor: AcpEditor,
  session: string,
  count: number,
  kind: "FAST" | "SLOW",
): Promise<number> {
  const before = editor.text(session).length;
  const start = performance.now();
  const prompt = [{ type: "text", text: `MAIN-${count}-${kind} please` }];
  await editor.request("session/prompt", { sessionId: session, prompt }, { timeoutMs: PROMPT_MS });
  const took = performance.now() - start;
  const said = editor.text(session).slice(before);
  // A fast wrong answer is no measure.
  if (!said.includes(`MAINDONE ${count}`)) {
    throw new Error(`The answer is not whole: ${said.slice(-300)}`);
  }
  return took;
}

/** Looks for the peak of a process tree's proportional set size. */
function peakOf(project: TestProject, pid: number): { stop(): Promise<number> } {
  let peak = 0;
  let looking = true;
  const done = (async () => {
    while (looking) {
      let kib = 0;
      for (const one of await treeOf(pid, project.mark)) {
        const text = await readFile(`/proc/${one.pid}/smaps_rollup`, "utf8").catch(() => "");
        kib += Number(/^Pss:\s+(\d+)/mu.exec(text)?.[1] ?? 0);
      }
      peak = Math.max(peak, kib / 1024);
      await sleep(SAMPLE_MS);
    }
  })();
  return {
    async stop() {
      looking = false;
      await done;
      return peak;
    },
  };
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}

const say = (line: string) => void process.stdout.write(`${line}\n`);
const note = (line: string) => void process.stderr.write(`${line}\n`);

process.env.MM_INTEROP = "1";
if (!existsSync(nodePath())) {
  await installPackage({ folder: join(PEERS_DIR, "node"), name: NODE_PACKAGE, scripts: false });
}
const candidates = [MM];
for (const peer of PEERS) {
  const candidate = candidateOf(peer);
  if (candidate === undefined) continue;
  if (missing(peer) !== undefined) {
    const folder = join(PEERS_DIR, peer.name);
    await installPackage({ folder, name: peer.package, scripts: peer.scripts });
  }
  const why = missing(peer);
  if (why === undefined) candidates.push(candidate);
  else note(`${peer.name}: left out, ${why}`);
}

const runs = Number(values.runs);
const rows = new Map<string, Partial<Row>[]>(candidates.map(({ name }) => [name, []]));
// All in turn, so that whatever else the machine does meets all alike. The first round does not count.
for (let round = 0; round <= runs + 1; round++) {
  for (const candidate of candidates) {
    const memory = round === runs + 1;
    const row = await once(candidate, memory).catch((error: Error) => {
      note(`${candidate.name}: ${error.message}`);
      return {};
    });
    if (round > 0) rows.get(candidate.name)?.push(row);
  }
  note(`round ${round} of ${runs + 1}, load ${loadavg()[0]?.toFixed(1)}`);
}
say(
  `Medians of ${runs} runs, milliseconds; PSS in MiB. ${availableParallelism()} cores, load ` +
    `${loadavg()[0]?.toFixed(1)}.\n`,
);
say(`| agent | ${COLUMNS.join(" | ")} |\n| --- ${"| --- ".repeat(COLUMNS.length)}|`);
for (const [name, measured] of rows) {
  const cells = COLUMNS.map((column) => {
    const numbers = measured.flatMap((row) => row[column] ?? []);
    return numbers.length === 0 ? "failed" : median(numbers).toFixed(0);
  });
  say(`| ${name} | ${cells.join(" | ")} |`);
}
