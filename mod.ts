#!/usr/bin/env -S deno run -A
/**
 * mm as a library: load a configuration, host sessions, ask other agents. Run as the main module, it
 * is the program itself.
 *
 * ```ts ignore
 * import { composeHost, loadConfig } from "@mm/cli";
 *
 * const env = { ...process.env };
 * const config = await loadConfig({ cwd: process.cwd(), env, configDir: "/etc" });
 * const host = await composeHost({ config, env, onNotice: console.error });
 * const session = await host.createSession({
 *   cwd: process.cwd(),
 *   emit: (event) => event.type === "text" && process.stdout.write(event.text),
 *   askPermission: () => Promise.resolve({ kind: "reject_once" }),
 * });
 * await session.prompt({ text: "What is in this directory?" }, { signal: AbortSignal.timeout(60_000) });
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
  ModelConfig,
  PermissionRules,
  ProviderName,
} from "./lib/config/types.ts";

// Sessions: what a front end sees.
export { composeHost, type ComposeHostOptions } from "./lib/cli/compose.ts";
export type { Emit, EngineEvent } from "./lib/engine/events.ts";
export type { AskPermission, PermissionAnswer, PermissionQuestion } from "./lib/gate/question.ts";
export type { Image, Usage } from "./lib/model/types.ts";
export type {
  CommandInfo,
  CreateSessionOptions,
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
