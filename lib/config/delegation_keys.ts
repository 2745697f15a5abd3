/**
 * The key `agents`: how work is delegated to subagents.
 *
 * @module
 */
import * as z from "zod";
import { MAX_CHAIN_DEPTH } from "../platform/ask_depth.ts";
import { count, flag, group, list, path } from "./fields.ts";

/** Most runs at the same time. */
const MAX_PARALLEL = 64;

/** Most folders of definitions. */
const MAX_PATHS = 50;

const PARALLEL = `must be auto, or a whole number from 1 to ${MAX_PARALLEL}`;

const BACKGROUND = "must be true, false or never";

/** The key about delegation. */
export const delegationKeys = {
  agents: group({
    paths: list(path(), "paths of folders").max(MAX_PATHS, {
      error: `must hold at most ${MAX_PATHS} folders`,
    }).default([]).describe(
      "Folders with definitions of subagents, besides .mm/agents and the usual ones.",
    ),
    maxParallel: z.union([
      z.literal("auto", { error: PARALLEL }),
      z.int({ error: PARALLEL }).min(1, { error: PARALLEL }).max(MAX_PARALLEL, {
        error: PARALLEL,
      }),
    ], { error: PARALLEL }).default("auto").describe(
      "Runs of subagents at the same time; auto: as many as the model server works on.",
    ),
    background: z.union([
      z.boolean({ error: BACKGROUND }),
      z.literal("never", { error: BACKGROUND }),
    ], { error: BACKGROUND }).default(true).describe(
      "Whether a subagent runs in the background where neither the call nor its definition says. " +
        "never: none does.",
    ),
    maxDepth: count({ min: 0, max: MAX_CHAIN_DEPTH }).default(2).describe(
      "How deep a chain of subagents may be. 1: subagents start none. 0: no delegation.",
    ),
    forks: flag().default(true).describe(
      "Whether the conversation can be forked: by the model, as a subagent, and with /fork.",
    ),
    worktree: group({
      enabled: flag().default(true).describe(
        "Whether a subagent may be given a git worktree to work in.",
      ),
      path: path().optional().describe(
        "Where worktrees are made. Absent: a folder of mm's directory for state.",
      ),
    }).prefault({}).describe("Subagents that work in a git worktree."),
  }).prefault({}).describe("Delegation: subagents that do a part of the work on their own."),
};
