/**
 * Puts together what the sessions of this process need to start subagents.
 *
 * @module
 */
import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { AgentPool } from "../agents/pool.ts";
import { redactor } from "../base/secrets.ts";
import { DelegationHost } from "../delegation/delegation_host.ts";
import { createGitWorktrees } from "../delegation/git_worktrees.ts";
import type { ModelClient } from "../model/types.ts";
import { createStartChild } from "../platform/child.ts";
import { stateDir } from "../platform/directories.ts";
import { createRunGit } from "../platform/git.ts";
import { selfCommand } from "../platform/runtime.ts";
import type { Scratch } from "../platform/scratch.ts";
import { connectLazily } from "./agent_pool.ts";
import type { HooksMakerOptions } from "./ask_hooks.ts";
import { definitionPlaces } from "./definition_places.ts";
import { createStore, savedSecrets } from "./session_store.ts";
import { subagentHooksMaker } from "./subagent_hooks.ts";

/** The folder of the state directory in which subagents save their conversations. */
const FOLDER = "subagents";

/** Options of {@linkcode composeDelegation}. */
export interface ComposeDelegationOptions extends HooksMakerOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly model: ModelClient;
  readonly pool: AgentPool;
  readonly scratch: Scratch;
  readonly hasTool: (name: string) => boolean;
  /** Whether conversations are saved. */
  readonly saved: boolean;
}

/** Puts it together; nothing is started. */
export function composeDelegation(options: ComposeDelegationOptions): DelegationHost {
  const { config, env, model, pool, scratch, depth, reaper, hasTool, saved } = options;
  const state = stateDir(env, homedir(), process.platform);
  const { worktree } = config.delegation;
  return new DelegationHost({
    config,
    model,
    pool,
    hasTool,
    self: selfCommand(),
    env,
    depth,
    start: createStartChild({ reaper }),
    connect: connectLazily,
    redact: redactor(savedSecrets({ config, env })),
    stateDir: saved ? join(state, FOLDER) : undefined,
    scratch: async () => (await scratch.contents()).directory,
    copy: async ({ stateDir, cwd, messages }) => {
      const store = await createStore({ config, env, stateDir });
      const id = crypto.randomUUID();
      store.copy({ id, cwd, messages });
      return id;
    },
    places: (cwd) => definitionPlaces({ config, cwd, env }),
    worktrees: worktree.enabled
      ? createGitWorktrees({
        run: createRunGit({ reaper, env }),
        stateDir: state,
        ...(worktree.path === undefined ? {} : { path: worktree.path }),
      })
      : undefined,
    createHooks: subagentHooksMaker({ config, depth, reaper }),
  });
}
