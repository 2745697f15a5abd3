/**
 * The arguments of the tool `agent`: which there are, and which do not go together. All of it is
 * checked before anything starts.
 *
 * @module
 */
import { z } from "zod";
import { DEFAULT_DEFINITION, FORK, nameKey } from "./definition_name.ts";
import { readForkTools } from "./fork_tools.ts";
import { readForkTurns } from "./fork_turns.ts";

/** What the tool offers here: what is off in the configuration is not declared. */
export interface AgentOffer {
  readonly background: boolean;
  readonly forks: boolean;
  readonly worktrees: boolean;
}

/** Everything the tool can be told. */
export interface AgentArguments {
  readonly description: string;
  readonly prompt: string;
  readonly subagent_type?: string | undefined;
  readonly fork_turns?: string | undefined;
  readonly fork_tools?: readonly string[] | undefined;
  readonly fork_profile?: string | undefined;
  readonly run_in_background?: boolean | undefined;
  readonly isolation?: "worktree" | undefined;
  readonly working_dir?: string | undefined;
}

/** Says whether the arguments ask for a fork. */
export function isFork({ subagent_type: type }: Pick<AgentArguments, "subagent_type">): boolean {
  return type !== undefined && nameKey(type.trim()) === FORK;
}

const words = () => z.string().refine((text) => text.trim() !== "", "is blank");

/** Returns the schema of what is offered. */
export function agentSchema(offer: AgentOffer) {
  return z.strictObject({
    description: words().describe("3 to 5 words"),
    prompt: words(),
    subagent_type: z.string().optional(),
    ...(offer.forks
      ? {
        fork_turns: z.string().optional().describe('"all" or the last turns, as "3"'),
        fork_tools: z.array(z.string()).optional().describe("all it may run"),
        fork_profile: z.string().optional(),
      }
      : {}),
    ...(offer.background ? { run_in_background: z.boolean().optional() } : {}),
    ...(offer.worktrees
      ? {
        isolation: z.enum(["worktree"], { error: 'has to be "worktree"; leave it out for none' })
          .optional(),
        working_dir: z.string().optional().describe("an existing git worktree"),
      }
      : {}),
  }).superRefine((given, context) => {
    const refuse: Refuse = (name, message) =>
      context.addIssue({ code: "custom", path: name === NAMED ? [] : [name], message });
    // What is not offered is not there.
    const args = given as AgentArguments;
    if (isFork(args)) forkFaults(args, refuse);
    else plainFaults(args, refuse);
  });
}

/** In the place of an argument's name: the sentence begins with it. */
const NAMED = "";

type Refuse = (name: string, message: string) => void;

function forkFaults(args: AgentArguments, refuse: Refuse): void {
  const turns = readForkTurns(args.fork_turns);
  if ("error" in turns) refuse(NAMED, turns.error);
  if (args.fork_tools !== undefined) {
    const tools = readForkTools(args.fork_tools);
    if ("error" in tools) refuse(NAMED, tools.error);
    if (args.fork_profile !== undefined) {
      refuse("fork_profile", "does not go with fork_tools; send one of the two");
    }
  }
  const place =
    "does not go with a fork, which works where you work; leave it out, or name another subagent_type";
  if (args.isolation !== undefined) refuse("isolation", place);
  if (args.working_dir !== undefined) refuse("working_dir", place);
}

function plainFaults(args: AgentArguments, refuse: Refuse): void {
  for (const name of ["fork_turns", "fork_tools", "fork_profile"] as const) {
    if (args[name] !== undefined) {
      refuse(name, `goes with subagent_type "${FORK}" only; leave it out`);
    }
  }
  for (const name of ["isolation", "working_dir"] as const) {
    if (args[name] !== undefined && args.subagent_type === undefined) {
      refuse(name, "needs a subagent_type by name; name one");
    }
  }
  if (args.working_dir !== undefined && args.run_in_background === true) {
    refuse(
      "run_in_background",
      "is true, but a run in a working_dir is waited for; leave it out or send false",
    );
  }
}

/**
 * Finds what the tolerant reading of arguments would let pass, and takes out what is harmless where it
 * is not offered.
 *
 * @param raw as the model wrote it.
 * @returns the arguments to go on with, or what is wrong: a sentence for the model.
 */
export function strictArguments(
  raw: unknown,
  offer: AgentOffer,
): { readonly raw: unknown } | { readonly error: string } {
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) return { raw };
  const args: Record<string, unknown> = { ...raw };
  const { subagent_type: type, fork_turns: turns, run_in_background: background } = args;
  if (type !== undefined && type !== null && (typeof type !== "string" || type.trim() === "")) {
    return {
      error: `"subagent_type" is no name; leave it out for ${DEFAULT_DEFINITION}, or name one`,
    };
  }
  if (offer.forks && turns !== undefined && turns !== null && typeof turns !== "string") {
    const read = readForkTurns(turns);
    if ("error" in read) return { error: read.error };
  }
  if (!offer.background && background !== undefined) {
    if (background === true || background === "true") {
      return {
        error:
          '"run_in_background": nothing runs in the background here, for no notification would ' +
          "come; leave it out and the result is what the call returns",
      };
    }
    delete args["run_in_background"];
  }
  return { raw: args };
}
