/**
 * `mm -check`: tries everything a configuration needs once and says what works.
 *
 * @module
 */
import { permissionWords } from "../agents/permission_words.ts";
import { messageOf, UserError } from "../base/errors.ts";
import { formatDuration } from "../base/duration.ts";
import type { AgentConfig } from "../config/types.ts";
import { effectiveAskDepth } from "../platform/ask_depth.ts";
import { createReaper } from "../platform/reaper.ts";
import { createPool } from "./agent_pool.ts";
import { checkMcpServers } from "./check_mcp.ts";
import { checkModelRows } from "./check_model_rows.ts";
import { type CheckRow, tableText } from "./check_table.ts";
import { loadAgentConfig } from "./load_agent_config.ts";
import type { ModeOptionsOf } from "./mode.ts";

/** How long an agent may take to start and open a session, in milliseconds. */
const AGENT_MS = 30_000;

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
    const [model, agents, servers] = await Promise.all([
      checkModelRows({ io, config, signal: lifetime.signal }),
      checkAgents({ ...context, config, cwd }),
      checkMcpServers({ ...context, config, cwd }),
    ]);
    rows.push(...model, ...agents, ...servers);
  }
  io.out(tableText(rows, io.terminal.stdoutColor));
  return rows.some((row) => row.ok === false) ? 1 : 0;
}

async function checkAgents(
  { io, lifetime, config, cwd }: ModeOptionsOf<"check"> & {
    readonly config: AgentConfig;
    readonly cwd: string;
  },
): Promise<CheckRow[]> {
  if (config.agents.length === 0) return [];
  const reaper = createReaper();
  const depth = await effectiveAskDepth(io.env);
  const pool = createPool({ config, env: io.env, depth, reaper });
  const close = async () => {
    await pool.close();
    reaper.close();
  };
  lifetime.add(close);
  try {
    return await Promise.all(config.agents.map(async ({ name, description }): Promise<CheckRow> => {
      const what = `agent ${name}`;
      const limit = AbortSignal.timeout(AGENT_MS);
      try {
        const started = performance.now();
        const signal = AbortSignal.any([lifetime.signal, limit]);
        const { title, label } = await pool.probe(name, { cwd, signal });
        const took = formatDuration(performance.now() - started);
        const who = [title, label].filter((part) => part !== undefined).join(", ");
        const lines = [
          `${who === "" ? name : who}, ready in ${took}`,
          ...(description === undefined ? [] : [description]),
          permissionWords({
            agent: name,
            runs: pool.yolo(name, config.yolo),
            asked: pool.asked,
            rules: config.permissions,
          }),
        ];
        return { what, ok: true, detail: lines.join("\n") };
      } catch (thrown) {
        lifetime.signal.throwIfAborted();
        const detail = limit.aborted
          ? `${name} opened no session within ${formatDuration(AGENT_MS)}`
          : messageOf(thrown);
        return { what, ok: false, detail };
      }
    }));
  } finally {
    await close();
  }
}
