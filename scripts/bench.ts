/**
 * `deno task bench [--program source|compiled|'["mm", …]'] [--runs 5] [--json file]`: measures mm
 * against a bare program of the same runtime, in the same run. Linux only: memory is read in `/proc`.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import type { Program } from "../tests/support/program.ts";
import { BARE_ENTRY, compiledBare, compiledMm } from "./bench/compiled.ts";
import { measure, type Measures } from "./bench/measure.ts";
import { machine, markdownTable, median } from "./bench/table.ts";
import { ROOT } from "./checks/repository.ts";

/** Where a compiled mm wants to be: milliseconds, or MiB for PSS. A bare start is 45 ms there. */
const AIMS: Measures = {
  "-version": 50,
  "spawn to session/new answered": 150,
  "first chunk, warm": 14,
  "5000 chunks": 400,
  "cold ask": 300,
  "warm ask": 40,
  "8 asks at once": 150,
  "8 asks of 1 s": 1100,
  "--ask, both processes": 350,
  "PSS idle": 45,
  "PSS after 5000 chunks": 60,
  "PSS with 8 asks": 110,
};

const { values } = parseArgs({
  options: {
    program: { type: "string", default: "source" },
    runs: { type: "string", default: "5" },
    json: { type: "string" },
  },
});

/** The program to measure and the bare one of its runtime. */
async function programs(chosen: string): Promise<{ mm: Program; bare: Program }> {
  const deno = [process.execPath, "run", "-A", "--no-check"] as const;
  if (chosen === "source") {
    return { mm: [...deno, join(ROOT, "cli.ts")], bare: [...deno, BARE_ENTRY] };
  }
  const bare = await compiledBare();
  if (chosen !== "compiled") return { mm: JSON.parse(chosen) as Program, bare };
  return { mm: await compiledMm(), bare };
}

function table(runs: readonly Measures[]): string {
  const of = (name: string) => runs.map((run) => run[name] ?? NaN);
  const [bareStart, barePss] = [median(of("bare start")), median(of("bare PSS"))];
  const rows = Object.keys(runs[0] ?? {}).map((name) => {
    const middle = median(of(name));
    const bare = name.includes("PSS") ? barePss : bareStart;
    const unit = name.includes("PSS") ? "MiB" : "ms";
    return [
      name,
      `${middle.toFixed(1)} ${unit}`,
      Math.min(...of(name)).toFixed(1),
      (middle / bare).toFixed(2),
      AIMS[name] === undefined ? "" : String(AIMS[name]),
    ];
  });
  const head = ["measure", "median", "least", "times bare", "aim (compiled)"];
  return markdownTable(head, rows);
}

const { mm, bare } = await programs(values.program);
const model = spawn(
  process.execPath,
  ["run", "-A", "--no-check", join(ROOT, "scripts", "bench", "model.ts")],
  { stdio: ["pipe", "pipe", "inherit"] },
);
try {
  const [line] = await once(model.stdout, "data");
  const port = Number(String(line));
  const runs: Measures[] = [];
  // The first run warms the disk's and the runtime's caches and does not count.
  for (let i = 0; i <= Number(values.runs); i++) {
    const run = await measure({ mm, bare, port });
    if (i > 0) runs.push(run);
    process.stderr.write(i === 0 ? "warmed up\n" : `run ${i} of ${values.runs}\n`);
  }
  process.stdout.write(
    `${mm.join(" ")}, medians of ${values.runs} runs, ${machine()}\n\n${table(runs)}\n`,
  );
  if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(runs, null, 1)}\n`);
} finally {
  model.stdin.end();
}
