/**
 * `deno task bench:peers [--program compiled|source|'["mm", …]'] [--runs 3] [--peers qwen,gemini]`: what
 * a hand-over costs, in mm and in agents of others, in the same run and against the same model server.
 * Theirs run inside their own process; mm's is another process. Linux only: memory is read in `/proc`.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { findPeers, mmAsking, mmDelegating, mmProgram } from "./candidates.ts";
import { HANDOVER_COLUMNS, measureHandOvers } from "./handover_rounds.ts";
import { machine, markdownTable, say } from "./table.ts";

const { values } = parseArgs({
  options: {
    program: { type: "string", default: "compiled" },
    runs: { type: "string", default: "3" },
    peers: { type: "string" },
  },
});

const program = await mmProgram(values.program);
const { candidates, leftOut } = await findPeers(values.peers?.split(","));
const rows = await measureHandOvers({
  candidates: [mmAsking(program), mmDelegating(program), ...candidates],
  runs: Number(values.runs),
});
say(
  `Medians of ${values.runs} runs, milliseconds; PSS in MiB. mm is ${values.program}. ${machine()}.\n`,
);
say(markdownTable(["agent", ...HANDOVER_COLUMNS], rows));
for (const { name, why } of leftOut) say(`\n${name}: left out, ${why}`);
