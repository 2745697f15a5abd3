/**
 * `deno task bench:throughput [--runs 3]`: how fast a long answer is read, shown by `-p`
 * and saved, against a loop that only fetches the same bytes, in the same run. Linux only: memory is
 * read in `/proc`.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import type { Program } from "../../tests/support/program.ts";
import { type TestProject, testProject } from "../../tests/support/project.ts";
import { ROOT } from "../checks/repository.ts";
import { words } from "./script.ts";

/** Chunks of the long answer. */
export const CHUNKS = 20_000;

/** Chunks of the short one, against which the memory of the long one is held. */
const FEW = 2000;

/** How often memory is read, in milliseconds. */
const SAMPLE_MS = 20;

/** Options of {@linkcode measureThroughput}. */
export interface ThroughputOptions {
  readonly mm: Program;
  /** Measurements of each; the best counts, since everything else on the machine only adds time. */
  readonly runs: number;
}

/** What was measured. */
export interface Throughput {
  /** Milliseconds from the first chunk to the last. */
  readonly bareMs: number;
  readonly mmMs: number;
  /** mm's rate as a share of the bare loop's. */
  readonly share: number;
  /** Peak of mm's memory with the short and with the long answer, in MiB. */
  readonly peakMiB: { readonly few: number; readonly many: number };
}

/**
 * Measures alternately, so that both see the same machine.
 *
 * @throws {Error} when an answer was not shown or not saved whole.
 */
export async function measureThroughput(options: ThroughputOptions): Promise<Throughput> {
  const [many, few] = await Promise.all([startServer(CHUNKS), startServer(FEW)]);
  try {
    let bareMs = Infinity;
    let mmMs = Infinity;
    let peak = 0;
    for (let run = 0; run < options.runs; run++) {
      bareMs = Math.min(bareMs, await runBare(many.url));
      const one = await runMm(options.mm, many.url, CHUNKS);
      mmMs = Math.min(mmMs, one.ms);
      peak = Math.max(peak, one.peakMiB);
    }
    const { peakMiB } = await runMm(options.mm, few.url, FEW);
    return { bareMs, mmMs, share: bareMs / mmMs, peakMiB: { few: peakMiB, many: peak } };
  } finally {
    many.child.stdin?.end();
    few.child.stdin?.end();
  }
}

async function startServer(chunks: number) {
  const script = join(ROOT, "scripts", "bench", "chunk_server.ts");
  const child = spawn(process.execPath, ["run", "-A", "--no-check", script, String(chunks)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [line] = await once(child.stdout, "data");
  return { child: child as ChildProcess, url: `http://127.0.0.1:${Number(String(line))}/v1` };
}

async function runBare(url: string): Promise<number> {
  const script = join(ROOT, "scripts", "bench", "bare_fetch.ts");
  const child = spawn(process.execPath, ["run", "-A", "--no-check", script, url], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let words = "";
  child.stdout.on("data", (bytes) => words += String(bytes));
  await once(child, "close");
  return Number(words.split(" ")[0]);
}

async function runMm(mm: Program, url: string, chunks: number) {
  const project = await testProject({
    files: { "agent.yaml": `provider: llamacpp\nbaseUrl: ${url}\nmodel: m\n` },
    env: { TMPDIR: tmpdir() },
  });
  try {
    const answer = words(chunks).join("").trim();
    const running = project.mm(["-p", "Go"], { program: mm, stdin: "" });
    let first = 0;
    let last = 0;
    running.onOutput("stdout", () => {
      last = performance.now();
      if (first === 0) first = last;
    });
    let peakMiB = 0;
    const sampler = setInterval(async () => {
      peakMiB = Math.max(peakMiB, await peakOf(running.pid));
    }, SAMPLE_MS);
    await running.waitForExit({ timeoutMs: 120_000 });
    clearInterval(sampler);
    if (running.stdout.trim() !== answer) throw new Error("The answer was not shown whole");
    await assertSaved(project, answer);
    return { ms: last - first, peakMiB };
  } finally {
    await project.close();
  }
}

/** The most memory a process has had, in MiB. */
async function peakOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/^VmHWM:\s+(\d+)/mu.exec(status)?.[1] ?? 0) / 1024;
}

async function assertSaved(project: TestProject, answer: string): Promise<void> {
  const files = await readdir(project.stateDir, { recursive: true });
  for (const file of files.filter((name) => name.endsWith(".jsonl"))) {
    const text = await readFile(join(project.stateDir, file), "utf8");
    if (text.includes(answer.slice(-200))) return;
  }
  throw new Error(`The answer was not saved whole: ${files.join(", ")}`);
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { runs: { type: "string", default: "3" } } });
  const mm = [process.execPath, "run", "-A", "--no-check", join(ROOT, "cli.ts")] as const;
  const { bareMs, mmMs, share, peakMiB } = await measureThroughput({
    mm,
    runs: Number(values.runs),
  });
  const rate = (ms: number) => `${Math.round(CHUNKS / ms * 1000)} chunks/s (${Math.round(ms)} ms)`;
  process.stdout.write(
    `bare fetch loop: ${rate(bareMs)}\n` +
      `mm -p, shown and saved: ${rate(mmMs)}, ${Math.round(share * 100)} % of it\n` +
      `peak memory: ${peakMiB.few.toFixed(0)} MiB with ${FEW} chunks, ` +
      `${peakMiB.many.toFixed(0)} MiB with ${CHUNKS}\n`,
  );
}
