/**
 * The part of `mm -check` that is about subagents: which definitions there are in this directory, and
 * which files are none.
 *
 * @module
 */
import { AGENT } from "../config/tool_names.ts";
import type { AgentConfig } from "../config/types.ts";
import { openDefinitionBook } from "../delegation/definition_book.ts";
import { mayDelegate } from "../delegation/delegation_limits.ts";
import { listForkProfiles } from "../delegation/fork_profiles.ts";
import { effectiveAskDepth } from "../platform/ask_depth.ts";
import { selectTools } from "../tools/tool_names.ts";
import type { CheckRow } from "./check_table.ts";
import { definitionPlaces } from "./definition_places.ts";
import type { Io } from "./mode.ts";

/** Rows about files of one kind; more are counted. */
const MAX_ROWS = 20;

/** Options of {@linkcode checkDefinitions}. */
export interface CheckDefinitionsOptions {
  readonly io: Pick<Io, "env">;
  readonly config: AgentConfig;
  /** The directory of the sessions, absolute. */
  readonly cwd: string;
}

/** Reads the files and returns a row with the names, and one for each file that cannot be used. */
export async function checkDefinitions(options: CheckDefinitionsOptions): Promise<CheckRow[]> {
  const { io: { env }, config, cwd } = options;
  const { maxDepth, forks } = config.delegation;
  if (!mayDelegate(await effectiveAskDepth(env), maxDepth)) {
    return [{ what: "subagents", detail: "none: the depth of agents.maxDepth is reached" }];
  }
  if (!selectTools(config.tools).has(AGENT)) {
    return [{ what: "subagents", detail: 'none: "tools" has no agent' }];
  }
  const book = await openDefinitionBook(definitionPlaces({ config, cwd, env }));
  const { definitions, faults, unused } = await book.current();
  const profiles = forks ? await listForkProfiles(cwd) : { profiles: [], faults: [] };
  const names = definitions.map(({ name }) => name).join(", ");
  const rows: CheckRow[] = [{
    what: "subagents",
    ok: true,
    detail: [
      `${definitions.length} ${definitions.length === 1 ? "definition" : "definitions"}: ${names}`,
      ...profiles.profiles.length === 0
        ? []
        : [`profiles of forks: ${profiles.profiles.map(({ name }) => name).join(", ")}`],
    ].join("\n"),
  }];
  return [
    ...rows,
    ...some(faults.map(({ reason }) => reason), { what: "definition", ok: false }),
    ...some(
      definitions.filter(({ notes }) => notes.length > 0)
        .map(({ name, notes }) => `${name}: ${notes.join("; ")}`),
      { what: "definition" },
    ),
    ...some(unused.map(({ reason }) => reason), { what: "definition" }),
    ...some(profiles.faults, { what: "fork profile", ok: false }),
  ];
}

function some(details: readonly string[], row: Omit<CheckRow, "detail">): CheckRow[] {
  const rows = details.slice(0, MAX_ROWS).map((detail) => ({ ...row, detail }));
  const more = details.length - MAX_ROWS;
  return more <= 0 ? rows : [...rows, { ...row, detail: `${more} more: /agents lists them` }];
}
