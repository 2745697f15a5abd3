/**
 * The commands that only tell something: `/help`, `/tools`, `/mcp`, `/status`.
 *
 * @module
 */
import type { AgentConfig } from "../config/types.ts";
import type { McpStatus } from "../mcp/session_servers.ts";
import type { Message } from "../model/types.ts";
import type { BackgroundCommand } from "../platform/process.ts";
import type { Tool } from "../tools/tool.ts";
import { helpText, mcpText, statusText, toolsText } from "./info.ts";
import type { SessionModel } from "./session_model.ts";
import type { InfoName } from "./slash.ts";
import type { CommandInfo } from "./types.ts";

/** What there is to tell of a session. */
export interface SessionFacts {
  readonly id: string;
  readonly cwd: string;
  readonly yolo: boolean;
  readonly commands: readonly CommandInfo[];
  readonly model: SessionModel;
  readonly config: AgentConfig;
  readonly mcp: readonly McpStatus[];
  readonly tools: readonly Tool[];
  readonly messages: readonly Message[];
  /** What is the case with the project's instructions; empty when there are none. */
  readonly instructions: string;
  /** What commands left running. */
  readonly background: readonly BackgroundCommand[];
}

/** Returns what a command tells. */
export function infoText(name: Exclude<InfoName, "yolo">, facts: SessionFacts): string {
  switch (name) {
    case "help":
      return helpText(facts.commands);
    case "tools":
      return toolsText(facts.tools, facts.yolo);
    case "mcp":
      return mcpText(facts.mcp);
    case "status":
      return statusText({ ...facts, configFile: facts.config.file });
  }
}
