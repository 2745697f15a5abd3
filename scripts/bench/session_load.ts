/**
 * `deno run -A scripts/bench/session_load.ts [--megabytes 50] [--runs 3]`: what loading a long saved
 * conversation costs against reading and parsing its file, each in a process of its own, and what adding
 * to it costs against adding to a short one.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { lineWriter } from "../../lib/store/entry_line.ts";
import { readSession } from "../../lib/store/read_session.ts";
import { type Entry, FORMAT, type Header } from "../../lib/store/record.ts";
import { SessionFile } from "../../lib/store/session_file.ts";

/** Milliseconds of the processor and bytes of one way to read a file. */
export interface LoadCost {
  readonly ms: number;
  /** Resident memory of the whole process at its end. */
  readonly rss: number;
}

/** What loading and adding cost. */
export interface SessionCosts {
  readonly bytes: number;
  /** Reading the file and parsing each of its lines. */
  readonly plain: LoadCost;
  /** Loading the conversation. */
  readonly load: LoadCost;
  /** Microseconds to add a line to an empty file, and to one of this size. */
  readonly appendUs: { readonly empty: number; readonly full: number };
}

const HEADER: Header = {
  type: "header",
  format: FORMAT,
  version: "1.0",
  id: "00000000-0000-4000-8000-000000000000",
  cwd: "/home/ada/project",
  created: "2026-11-30T12:00:00.000Z",
  mm: "0.0.0",
};

/** Lines whose cost is measured. */
const APPENDS = 2000;

/** Measures; the best of `runs` counts. */
export async function measureSessionCosts(
  options: { readonly bytes: number; readonly runs: number },
): Promise<SessionCosts> {
  const dir = await mkdtemp(join(tmpdir(), "mm-bench-"));
  try {
    const path = join(dir, "long.jsonl");
    const bytes = writeConversation(path, options.bytes);
    const plain: LoadCost[] = [];
    const load: LoadCost[] = [];
    for (let run = 0; run < options.runs; run++) {
      plain.push(inProcess("plain", path));
      load.push(inProcess("load", path));
    }
    return {
      bytes,
      plain: best(plain),
      load: best(load),
      appendUs: {
        empty: appendCost(SessionFile.create(join(dir, "empty.jsonl"))),
        full: appendCost(SessionFile.open(path)),
      },
    };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

function best(costs: readonly LoadCost[]): LoadCost {
  return {
    ms: Math.min(...costs.map(({ ms }) => ms)),
    rss: Math.min(...costs.map(({ rss }) => rss)),
  };
}

/** Writes turns with calls, as sessions have them, until the file has `size` bytes. */
function writeConversation(path: string, size: number): number {
  const file = SessionFile.create(path);
  const { line } = lineWriter([]);
  const at = HEADER.created;
  let written = 0;
  let n = 1;
  const add = (text: string) => {
    file.append(text);
    written += text.length;
  };
  add(line(HEADER));
  for (let turn = 0; written < size; turn++) {
    const question = `Why does step ${turn} fail? ${"It did not before. ".repeat(10)}`;
    const output = `line ${turn} of the build's output: everything is as it was\n`.repeat(60);
    const call = { id: `call_${turn}`, name: "bash", arguments: '{"command":"make test"}' };
    const view = { id: `v${turn}`, name: "bash", title: "make test", kind: "execute" } as const;
    const entries: Entry[] = [
      { type: "event", event: { type: "user", messageId: `u${turn}`, text: question } },
      { type: "message", message: { role: "user", text: question } },
      { type: "message", message: { role: "assistant", text: "", toolCalls: [call] } },
      { type: "event", event: { type: "tool_call", call: { ...view, input: {} } } },
      {
        type: "event",
        event: { type: "tool_update", callId: view.id, status: "completed", text: output },
      },
      { type: "message", message: { role: "tool", callId: call.id, name: "bash", text: output } },
      { type: "event", event: { type: "text", messageId: `a${turn}`, text: question } },
      { type: "message", message: { role: "assistant", text: question } },
    ];
    add(entries.map((entry) => line({ n: n++, at, ...entry })).join(""));
  }
  return written;
}

function appendCost(file: SessionFile): number {
  const { line } = lineWriter([]);
  const text = line({
    n: 1e9,
    type: "message",
    message: { role: "user", text: "word ".repeat(50) },
  });
  const started = performance.now();
  for (let at = 0; at < APPENDS; at++) file.append(text);
  const ms = performance.now() - started;
  void file.close(0);
  return ms * 1000 / APPENDS;
}

function inProcess(way: string, path: string): LoadCost {
  const script = fileURLToPath(import.meta.url);
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["run", "-A", "--no-check", script, "--way", way, path],
    { encoding: "utf8" },
  );
  try {
    return JSON.parse(stdout) as LoadCost;
  } catch (cause) {
    throw new Error(`Cannot measure "${way}": ${stderr}`, { cause });
  }
}

/** Reads in one way and prints what it cost. */
async function runWay(way: string, path: string): Promise<void> {
  // The processor's time: other programs do not count.
  const started = process.cpuUsage();
  const read = way === "plain"
    ? (await readFile(path, "utf8")).trimEnd().split("\n").map((line) => JSON.parse(line))
    : await readSession(path, { fallback: HEADER, events: true });
  const { user, system } = process.cpuUsage(started);
  const cost: LoadCost = { ms: (user + system) / 1000, rss: process.memoryUsage().rss };
  if (read === undefined) throw new Error("Nothing was read");
  process.stdout.write(JSON.stringify(cost));
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      megabytes: { type: "string", default: "50" },
      runs: { type: "string", default: "3" },
      way: { type: "string" },
    },
  });
  if (values.way !== undefined) {
    await runWay(values.way, positionals[0] ?? "");
  } else {
    const bytes = Number(values.megabytes) * 1_000_000;
    const { plain, load, appendUs } = await measureSessionCosts({
      bytes,
      runs: Number(values.runs),
    });
    const mb = (rss: number) => `${Math.round(rss / 1_000_000)} MB`;
    process.stdout.write(
      `${values.megabytes} MB\n` +
        `  read and parse  ${Math.round(plain.ms)} ms, ${mb(plain.rss)}\n` +
        `  load            ${Math.round(load.ms)} ms, ${mb(load.rss)}: ` +
        `${(load.ms / plain.ms).toFixed(2)} times, ${(load.rss / plain.rss).toFixed(2)} times\n` +
        `  add a line      ${appendUs.empty.toFixed(1)} µs to an empty file, ` +
        `${appendUs.full.toFixed(1)} µs to this one\n`,
    );
  }
}
