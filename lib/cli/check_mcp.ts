/**
 * The part of `mm -check` that is about MCP servers: each is started once.
 *
 * @module
 */
import { formatDuration } from "../base/duration.ts";
import { TOOL_NAMES } from "../config/tool_names.ts";
import type { AgentConfig } from "../config/types.ts";
import { McpHost } from "../mcp/host.ts";
import { createStartChild } from "../platform/child.ts";
import { createReaper } from "../platform/reaper.ts";
import { selectTools } from "../tools/tool_names.ts";
import { modelSecrets } from "./agent_pool.ts";
import type { CheckRow } from "./check_table.ts";
import type { Io, Lifetime } from "./mode.ts";

/** Options of {@linkcode checkMcpServers}. */
export interface CheckMcpOptions {
  readonly io: Pick<Io, "env">;
  readonly lifetime: Lifetime;
  readonly config: AgentConfig;
  /** Where the servers work, absolute. */
  readonly cwd: string;
}

/** Starts each server and returns a row for each, and one for entries of `tools` that name nothing. */
export async function checkMcpServers(options: CheckMcpOptions): Promise<CheckRow[]> {
  const { io, lifetime, config, cwd } = options;
  if (config.mcpServers.length === 0) return [];
  const reaper = createReaper();
  const chosen = selectTools(config.tools);
  const host = new McpHost({
    servers: config.mcpServers,
    env: io.env,
    secrets: modelSecrets(config),
    start: createStartChild({ reaper }),
    hasTool: chosen.has,
  });
  const close = async () => {
    await host.close();
    reaper.close();
  };
  lifetime.add(close);
  try {
    const started = performance.now();
    const session = host.open({ cwd });
    const times = await session.ready(lifetime.signal);
    const rows = session.status().map(({ name, state, label, failure, tools, total }): CheckRow => {
      const what = `mcp ${name}`;
      if (state !== "ready") return { what, ok: false, detail: `it ${failure ?? "was ended"}` };
      const count = tools.length === total ? `${total} tools` : `${tools.length} of ${total} tools`;
      const took = formatDuration((times.get(name) ?? performance.now()) - started);
      const parts = [label === "" ? name : label, count, `ready in ${took}`];
      return { what, ok: true, detail: parts.join(", ") };
    });
    const names = [...TOOL_NAMES, ...session.tools.map((tool) => tool.name)];
    const unknown = rows.every(({ ok }) => ok) ? chosen.unknown(names) : [];
    return [
      ...rows,
      // An editor may bring a server of that name, so this is no failure.
      ...unknown.map(({ entry, nearest }) => ({
        what: "tools",
        ok: true,
        detail: `"${entry}" names no tool of these servers` +
          (nearest === undefined ? "" : `; did you mean "${nearest}"?`),
      })),
    ];
  } finally {
    await close();
  }
}
