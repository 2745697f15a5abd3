/**
 * `deno task bench:delegation [--program compiled|source|'["mm", …]'] [--runs 5]`: mm's tool `agent`
 * against the tool of that name in qwen, in the same run and against the same model server: what a
 * hand-over takes, what the tools cost in each request, what a fork shares with its parent. Linux
 * only: memory is read in `/proc`.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { findPeers, mmDelegating, mmProgram } from "./candidates.ts";
import { measureFamily, measureFork, type RequestCandidate } from "./delegation_requests.ts";
import { HANDOVER_COLUMNS, measureHandOvers } from "./handover_rounds.ts";
import type { SharedPrefix } from "./shared_prefix.ts";
import { machine, markdownTable, note, say } from "./table.ts";

const { values } = parseArgs({
  options: {
    program: { type: "string", default: "compiled" },
    runs: { type: "string", default: "5" },
  },
});

const program = await mmProgram(values.program);
const { candidates, leftOut } = await findPeers(["qwen"]);
const all = [mmDelegating(program), ...candidates]
  .filter((one): one is RequestCandidate => one.more !== undefined);

/** A row of a table for each agent; one that fails has the reason in the place of its figures. */
async function rowsOf(
  measure: (candidate: RequestCandidate) => Promise<readonly string[]>,
): Promise<(readonly string[])[]> {
  const rows: (readonly string[])[] = [];
  for (const candidate of all) {
    const cells = await measure(candidate).catch((error: Error) => {
      note(`${candidate.name}: ${error.message}`);
      return ["failed"];
    });
    rows.push([candidate.name, ...cells]);
  }
  return rows;
}

const share = ({ bytes, of }: SharedPrefix) =>
  `${bytes} of ${of} (${Math.floor(bytes / of * 100)} %)`;

say(
  `Medians of ${values.runs} runs, milliseconds; PSS in MiB. mm is ${values.program}. ${machine()}.\n`,
);
const handOvers = await measureHandOvers({ candidates: all, runs: Number(values.runs) });
say(markdownTable(["agent", ...HANDOVER_COLUMNS], handOvers));

say("\nWhat the tools for delegation cost in each request, with three definitions:\n");
say(markdownTable(
  ["agent", "tools", "characters", "tokens (characters / 3.5)", "of a request of"],
  await rowsOf(async (candidate) => {
    const { names, characters, tokens, request } = await measureFamily(candidate);
    return [names.join(", "), `${characters}`, `${tokens}`, `${request} characters`];
  }),
));

say("\nBytes at the beginning of a fork's first request that its parent has sent:\n");
say(markdownTable(
  ["agent", "tools of the parent, of the fork", "tools, then messages", "messages alone"],
  await rowsOf(async (candidate) => {
    const { parentTools, forkTools, all, messages } = await measureFork(candidate);
    return [`${parentTools}, ${forkTools}`, share(all), share(messages)];
  }),
));
for (const { name, why } of leftOut) say(`\n${name}: left out, ${why}`);
say(`\nAt the end: ${machine()}.`);
