/**
 * For tests of turns and calls: what every call of a turn shares.
 *
 * @module
 */
import { Gate } from "../gate/gate.ts";
import { FileViews } from "../tools/file_views.ts";
import type { CallEnvironment } from "./call_runner.ts";

/** Surroundings in which nobody permits anything, nothing is shown and no command runs. */
export function quietEnvironment(): Omit<CallEnvironment, "tools" | "watchdog"> {
  return {
    gate: new Gate({
      rules: { allow: [], ask: [], deny: [] },
      honourAllowRules: true,
      askPermission: () => Promise.resolve({ kind: "reject_once" }),
    }),
    yolo: () => false,
    emit: () => {},
    signal: new AbortController().signal,
    cwd: "/",
    maxOutput: 1000,
    bashTimeoutMs: 1000,
    bashTimeoutMaxMs: 1000,
    commandEnv: () => Promise.resolve({}),
    files: new FileViews(),
    commands: {
      run: () => Promise.reject(new Error("No command in this test")),
      background: () => [],
      close: () => Promise.resolve(),
    },
  };
}
