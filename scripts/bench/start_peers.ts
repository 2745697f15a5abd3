/**
 * `deno task bench:start [--program compiled|source|'["mm", …]'] [--runs 7] [--peers qwen,gemini]`: what
 * whole programs cost before they do anything: start, memory, disk; a bare program of mm's runtime, mm
 * and agents of others, in the same run. Linux only: memory is read in `/proc`.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { compiledBare } from "./compiled.ts";
import { findPeers, mmAsking, mmDelegating, mmProgram } from "./candidates.ts";
import { type ChildMemory, measureChild } from "./idle_child.ts";
import { measureStarts, START_COLUMNS } from "./start_rounds.ts";
import { cell, machine, markdownTable, say } from "./table.ts";

/** Measurements of memory vary little. */
const CHILD_RUNS = 3;

const { values } = parseArgs({
  options: {
    program: { type: "string", default: "compiled" },
    runs: { type: "string", default: "7" },
    peers: { type: "string" },
  },
});

const program = await mmProgram(values.program);
const bare = await compiledBare();
const { candidates, leftOut } = await findPeers(values.peers?.split(","));
const mm = mmAsking(program);
const rows = await measureStarts({
  bare,
  candidates: [{ ...mm, name: "mm" }, ...candidates],
  runs: Number(values.runs),
});
for (const { name, why } of leftOut) {
  rows.push([name, ...START_COLUMNS.map((column) => column === "note" ? why : "-")]);
}
say(
  `Medians of ${values.runs} runs, milliseconds from the start of the process; PSS in MiB, disk in MB. ` +
    `mm is ${values.program}. ${machine()}.\n`,
);
say(markdownTable(["program", ...START_COLUMNS], rows));

const children: readonly (readonly [string, () => Promise<ChildMemory>])[] = [
  ["asked agent", () => measureChild(mm, ["-acp", "-config", "bob.yaml"])],
  [
    "subagent `general-purpose`",
    () => measureChild(mmDelegating(program), ["-acp", "-agent", "general-purpose"]),
  ],
];
const childRows: string[][] = [];
for (const [child, measure] of children) {
  const runs: ChildMemory[] = [];
  for (let run = 0; run < CHILD_RUNS; run++) runs.push(await measure());
  const of = (column: keyof ChildMemory) => cell(runs.map((one) => one[column]), 1);
  childRows.push([child, of("alone"), of("beside"), of("parent")]);
}
say(`\nA child of mm that has answered once and waits, PSS in MiB:\n`);
say(markdownTable(["child", "alone", "beside its parent", "the parent then"], childRows));
say(`\nAt the end: ${machine()}.`);
