/**
 * What the commands that only tell something say.
 *
 * @module
 */
import { permissionWords } from "../agents/permission_words.ts";
import type { AgentPool } from "../agents/pool.ts";
import { oneLine } from "../base/cut.ts";
import { formatDuration } from "../base/duration.ts";
import type { PermissionRules } from "../config/types.ts";
import type { BackgroundCommand } from "../platform/process.ts";
import { estimateTokens } from "../engine/estimate.ts";
import type { McpStatus } from "../mcp/session_servers.ts";
import type { Message, ModelClient, Usage } from "../model/types.ts";
import type { Tool } from "../tools/tool.ts";
import type { CommandInfo } from "./types.ts";

/** The lines of `/help`. */
export function helpText(commands: readonly CommandInfo[]): string {
  return commands
    .map(({ name, hint, description }) =>
      `/${name}${hint === undefined ? "" : ` <${hint}>`} - ${description}`
    )
    .join("\n");
}

/** The lines of `/agents`: who can be asked, in what state, with which permissions. */
export function agentsText(
  pool: AgentPool,
  options: { readonly yolo: boolean; readonly rules: PermissionRules },
): string {
  const agents = pool.status();
  if (agents.length === 0) return pool.unknownAgent("");
  return agents.map(({ name: agent, description, state, label, lastFailure }) => {
    const facts = [state, label, description].filter((fact) => fact !== undefined);
    const runs = pool.yolo(agent, options.yolo);
    const { rules } = options;
    return [
      `${agent} - ${facts.join(", ")}`,
      `  ${permissionWords({ agent, runs, asked: pool.asked, rules })}`,
      ...(lastFailure === undefined ? [] : [`  last failure: ${lastFailure}`]),
    ].join("\n");
  }).join("\n");
}

/** The lines of `/tools`. */
export function toolsText(tools: readonly Tool[], yolo: boolean): string {
  return tools.map(({ name, gated }) => `${name}${gated && !yolo ? " (asks)" : ""}`).join("\n");
}

/** The lines of `/mcp`. */
export function mcpText(servers: readonly McpStatus[]): string {
  if (servers.length === 0) {
    return "There are no MCP servers; the configuration names them under mcpServers.";
  }
  return servers.map(({ name, state, label, failure, tools, total }) => {
    const facts = [state, ...(label === "" ? [] : [label])];
    if (state === "ready") {
      const all = counted(total, "tool");
      facts.push(tools.length === total ? all : `${tools.length} of ${all}`);
    }
    const lines = [
      ...(failure === undefined ? [] : [`it ${failure}`]),
      ...(tools.length === 0 ? [] : [tools.join(", ")]),
    ];
    return [`${name} - ${facts.join(", ")}`, ...lines.map((line) => `  ${line}`)].join("\n");
  }).join("\n");
}

/** The line of `/model`. */
export function modelText(model: ModelClient): string {
  const window = model.contextWindow === undefined
    ? "window unknown"
    : `window ${model.contextWindow} tokens`;
  return `${model.label}${model.url === "" ? "" : ` at ${model.url}`}, ${window}`;
}

/** What requests used, as the server counted: `1200 tokens read (900 from the cache), 80 written`. */
export function usageText({ inputTokens, outputTokens, cachedTokens, cost }: Usage): string {
  const cached = cachedTokens === undefined ? "" : ` (${cachedTokens} from the cache)`;
  // Requests cost fractions of a cent.
  const paid = cost === undefined ? "" : `, ${Number(cost.toPrecision(3))} USD`;
  return `${inputTokens} tokens read${cached}, ${outputTokens} written${paid}`;
}

/** Options of {@linkcode statusText}. */
export interface StatusOptions {
  readonly id: string;
  readonly cwd: string;
  readonly yolo: boolean;
  readonly model: ModelClient & { readonly used: Usage | undefined };
  readonly messages: readonly Message[];
  readonly configFile: string | undefined;
  /** What is the case with the project's instructions; empty when there are none. */
  readonly instructions: string;
  /** What commands left running. */
  readonly background?: readonly BackgroundCommand[];
}

/** UTF-16 units of a command that is shown. */
const COMMAND_LENGTH = 100;

/** The lines of `/status`. */
export function statusText(options: StatusOptions): string {
  const { id, cwd, yolo, model, messages, configFile, instructions, background = [] } = options;
  return [
    `model: ${modelText(model)}`,
    `directory: ${cwd}`,
    `configuration: ${configFile ?? "built-in defaults"}`,
    `project instructions: ${instructions === "" ? "none" : instructions}`,
    `yolo: ${yolo ? "on" : "off"}`,
    `conversation: ${counted(messages.length, "message")}, ` +
    `about ${counted(estimateTokens(messages), "token")}`,
    ...(model.used === undefined ? [] : [`used: ${usageText(model.used)}`]),
    ...background.map(({ command, since }) =>
      `in the background for ${formatDuration(performance.now() - since)}: ` +
      oneLine(command, COMMAND_LENGTH)
    ),
    `session: ${id}`,
  ].join("\n");
}

function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? "" : "s"}`;
}
