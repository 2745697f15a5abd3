#!/usr/bin/env -S deno run -A
/**
 * mm as a library: load a configuration, host sessions, ask other agents. Run as the main module, it
 * is the program itself.
 *
 * ```ts
 * import { composeHost, loadConfig } from "@mm/cli";
 *
 * // The built-in model, which needs no server; leave AGENT_PROVIDER out for the one of agent.yaml.
 * const env = { AGENT_PROVIDER: "demo", AGENT_SESSIONS: "off" };
 * const config = await loadConfig({ cwd: ".", env, configDir: "/etc" });
 * const host = await composeHost({ config, env, onNotice: console.error });
 * const session = await host.createSession({
 *   cwd: ".",
 *   emit: (event) => event.type === "text" && console.log(event.text),
 *   askPermission: () => Promise.resolve({ kind: "reject_once" }),
 * });
 * const { end } = await session.prompt({ text: "Hello" }, { signal: AbortSignal.timeout(60_000) });
 * if (end.kind !== "answered") throw new Error(end.kind);
 * await host.close();
 * ```
 *
 * @module
 */

// How anything ends, and errors with words for the user.
export {
  describeEnd,
  type End,
  type EndKind,
  EXIT,
  exitStatusOf,
  type IncompleteLimit,
  type RefusedBy,
} from "./lib/base/ends.ts";
export { UsageError, UserError, type UserErrorOptions } from "./lib/base/errors.ts";
export { PLAN_PRIORITIES, PLAN_STATUSES, type PlanEntry } from "./lib/base/plan.ts";
export type {
  FileDiff,
  Location,
  ToolCallRequest,
  ToolCallView,
  ToolKind,
  ToolStatus,
} from "./lib/base/tool_call.ts";

// Configuration.
export { loadConfig, type LoadConfigOptions } from "./lib/config/load.ts";
export type { FlagOverrides } from "./lib/config/overrides.ts";
export type {
  AgentConfig,
  AgentEntry,
  AgentsMdConfig,
  CompactionConfig,
  DelegationConfig,
  Effort,
  HookConfig,
  HooksConfig,
  McpProgramConfig,
  McpServerConfig,
  McpUrlConfig,
  ModelConfig,
  PermissionRules,
  ProviderName,
  SessionsConfig,
  StructuredOutputConfig,
} from "./lib/config/types.ts";

// Sessions: what a front end sees.
export { composeHost, type ComposeHostOptions } from "./lib/cli/compose.ts";
export type { ForkOpening } from "./lib/agents/child_connection.ts";
export type { Emit, EngineEvent } from "./lib/engine/events.ts";
export type { AskPermission, PermissionAnswer, PermissionQuestion } from "./lib/gate/question.ts";
export type { ProcessEnd } from "./lib/platform/process.ts";
export type { Image, ModelSettings, ToolDeclaration, Usage } from "./lib/model/types.ts";
export type { FileState, SeenFile } from "./lib/tools/file_views.ts";
export type { AskUser, UserAnswer, UserQuestion } from "./lib/tools/user_question.ts";
export type {
  BackgroundWork,
  CommandInfo,
  CreateSessionOptions,
  ListOptions,
  ModelChoice,
  PromptInput,
  PromptResult,
  ReplayOptions,
  ResumeSessionOptions,
  SavedSession,
  SavedSessions,
  Session,
  SessionHost,
} from "./lib/session/types.ts";

// Asking agents without a session of one's own.
export {
  type Asker,
  composeAsker,
  type ComposeAskerOptions,
  type ScriptAsk,
} from "./lib/cli/compose_asker.ts";
export type { AskResult } from "./lib/agents/ask.ts";

if (import.meta.main) await import("./cli.ts");
