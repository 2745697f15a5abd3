/**
 * `mm -check`: tries everything a configuration needs once and says what works.
 *
 * @module
 */
import { UserError } from "../base/errors.ts";
import { checkAgents } from "./check_agents.ts";
import { checkDefinitions } from "./check_definitions.ts";
import { checkMcpServers } from "./check_mcp.ts";
import { checkModelRows } from "./check_model_rows.ts";
import { type CheckRow, tableText } from "./check_table.ts";
import { loadAgentConfig } from "./load_agent_config.ts";
import type { ModeOptionsOf } from "./mode.ts";

/** Prints the table. Returns the exit status: 1 when something does not work. */
export async function runCheckMode(context: ModeOptionsOf<"check">): Promise<number> {
  const { io, lifetime } = context;
  const rows: CheckRow[] = [];
  const loaded = await loadAgentConfig(context).catch((thrown) => {
    if (!(thrown instanceof UserError)) throw thrown;
    rows.push({ what: "configuration", ok: false, detail: thrown.message });
    return undefined;
  });
  if (loaded !== undefined) {
    const { config, cwd } = loaded;
    const detail = config.file ?? "built-in defaults; mm -init writes a file to change them";
    rows.push({ what: "configuration", ok: true, detail });
    const [model, agents, definitions, servers] = await Promise.all([
      checkModelRows({ io, config, signal: lifetime.signal }),
      checkAgents({ ...context, config, cwd }),
      checkDefinitions({ io, config, cwd }),
      checkMcpServers({ ...context, config, cwd }),
    ]);
    rows.push(...model, ...agents, ...definitions, ...servers);
  }
  io.out(tableText(rows, io.terminal.stdoutColor));
  return rows.some((row) => row.ok === false) ? 1 : 0;
}
