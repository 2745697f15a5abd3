/**
 * `mm -check`: tries everything a configuration needs once and says what works.
 *
 * @module
 */
import { messageOf, UserError } from "../base/errors.ts";
import { formatDuration } from "../base/duration.ts";
import type { AgentConfig } from "../config/types.ts";
import { createLazyModelClient } from "../model/discovering_client.ts";
import type { ModelClient } from "../model/types.ts";
import { effectiveAskDepth } from "../platform/ask_depth.ts";
import { createReaper } from "../platform/reaper.ts";
import { createPool } from "./agent_pool.ts";
import { checkMcpServers } from "./check_mcp.ts";
import { type CheckRow, tableText } from "./check_table.ts";
import { loadAgentConfig } from "./load_agent_config.ts";
import type { Io, ModeOptionsOf } from "./mode.ts";

/** How long the model server may take for a tiny answer, in milliseconds. */
const MODEL_MS = 60_000;

/** How long a server that is not up is waited for, in milliseconds. */
const PATIENCE_MS = 5_000;

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
      checkModel(config, io, lifetime.signal),
      checkAgents({ ...context, config, cwd }),
      checkMcpServers({ ...context, config, cwd }),
    ]);
    rows.push(model, ...agents, ...servers);
  }
  io.out(tableText(rows, io.terminal.stdoutColor));
  return rows.every((row) => row.ok) ? 0 : 1;
}

async function checkModel(config: AgentConfig, io: Io, signal: AbortSignal): Promise<CheckRow> {
  const what = "model";
  const limit = AbortSignal.timeout(MODEL_MS);
  const both = AbortSignal.any([signal, limit]);
  const notices: string[] = [];
  let client: ModelClient | undefined;
  try {
    client = createLazyModelClient({
      config: config.model,
      env: io.env,
      onNotice: (text) => void notices.push(text),
    });
    const facts = await client.facts({ signal: both });
    const started = performance.now();
    const reply = await client.complete({
      messages: [{ role: "user", text: "Answer with the one word: ready" }],
      tools: [],
    }, { signal: both, onEvent: () => {}, patienceMs: PATIENCE_MS });
    const took = formatDuration(performance.now() - started);
    const window = client.contextWindow ?? facts.contextWindow;
    const parts = [
      `${client.label}${client.url === "" ? "" : ` at ${client.url}`}`,
      window === undefined ? "window not known" : `window ${window} tokens`,
      ...(facts.slots === undefined ? [] : [`${facts.slots} at once`]),
      `answered in ${took}`,
      ...(reply.finish === "refusal" ? ["refused the test question"] : []),
    ];
    return { what, ok: true, detail: [parts.join(", "), ...notices].join("\n") };
  } catch (thrown) {
    signal.throwIfAborted();
    const detail = limit.aborted
      ? `${client?.label ?? "The model"} at ${client?.url ?? "its server"} gave no answer ` +
        `within ${formatDuration(MODEL_MS)}`
      : messageOf(thrown);
    return { what, ok: false, detail };
  }
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
    return await Promise.all(config.agents.map(async ({ name }): Promise<CheckRow> => {
      const what = `agent ${name}`;
      const limit = AbortSignal.timeout(AGENT_MS);
      try {
        const started = performance.now();
        const signal = AbortSignal.any([lifetime.signal, limit]);
        const { title, label } = await pool.probe(name, { cwd, signal });
        const took = formatDuration(performance.now() - started);
        const who = [title, label].filter((part) => part !== undefined).join(", ");
        return { what, ok: true, detail: `${who === "" ? name : who}, ready in ${took}` };
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
