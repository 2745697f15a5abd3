/**
 * What delegation costs in requests: the tools that are declared for it, and how much of a fork's first
 * request its parent has sent before.
 *
 * @module
 */
import type { PeerCall, PeerReply, PeerRequest } from "../../tests/interop/peer_wire.ts";
import { startPeerModel } from "../../tests/interop/peer_model.ts";
import { startMm } from "../../tests/support/mm.ts";
import { testProject } from "../../tests/support/project.ts";
import type { Candidate, CandidateMore } from "./candidates.ts";
import { sharedPrefix } from "./shared_prefix.ts";
import { note } from "./table.ts";

/** How long one prompt may take without a person, in milliseconds. */
const LIMIT_MS = 120_000;

/** Characters of a token, as mm reckons. */
const TOKEN_LENGTH = 3.5;

const FORK_TASK = "FORKTASK look at the same file again";

/** Definitions as a project has them: name to description. */
const DEFINITIONS: Readonly<Record<string, string>> = {
  reviewer:
    "Reviews a change for faults and says where each one is. Use it after code was written.",
  tester:
    "Writes tests for code that has none and runs them. Use it when behaviour is not covered.",
  explorer: "Finds where something is done in a large project and reports files and lines.",
};

/** An agent with what is needed to look into its delegation. */
export interface RequestCandidate extends Candidate {
  readonly more: CandidateMore;
}

/** What the tools of the family cost in each request. */
export interface FamilyCost {
  /** Those that are declared. */
  readonly names: readonly string[];
  readonly characters: number;
  readonly tokens: number;
  /** Characters of the whole body of the first request. */
  readonly request: number;
}

/** A fork's first request against the last one that its parent sent before it. */
export interface ForkShare {
  readonly parentTools: number;
  readonly forkTools: number;
  readonly all: ReturnType<typeof sharedPrefix>;
  readonly messages: ReturnType<typeof sharedPrefix>;
}

/**
 * Measures with three definitions.
 *
 * @throws {Error} when the agent declares no tool of the family.
 */
export async function measureFamily(candidate: RequestCandidate): Promise<FamilyCost> {
  const requests = await runHeadless(candidate, "Say ok", () => ({ text: "ok" }));
  const { call, family } = candidate.delegation;
  const first = requests.find(({ tools }) => tools.includes(call("").name));
  if (first === undefined) throw new Error(`${candidate.name} declares no tool for delegation`);
  const declared = (first.body.tools as readonly { function: { name: string } }[])
    .filter((tool) => family.includes(tool.function.name));
  const characters = declared.reduce((sum, tool) => sum + JSON.stringify(tool).length, 0);
  return {
    names: declared.map((tool) => tool.function.name),
    characters,
    tokens: Math.round(characters / TOKEN_LENGTH),
    request: JSON.stringify(first.body).length,
  };
}

/**
 * Has an agent run a command, then fork.
 *
 * @throws {Error} when no fork sent a request.
 */
export async function measureFork(candidate: RequestCandidate): Promise<ForkShare> {
  const { delegation, more } = candidate;
  const steps: PeerCall[] = [more.run("echo one line of a file"), forkCall(delegation.call)];
  const parents: PeerRequest[] = [];
  const forks: PeerRequest[] = [];
  const requests = await runHeadless(candidate, "MAIN-FORK please", (request) => {
    const { question, results, tools } = request;
    if ([question, ...results].some((text) => text.includes(FORK_TASK))) {
      forks.push(request);
      return { text: "Scope: the file. It is fine." };
    }
    if (!question.includes("MAIN-FORK") || !tools.includes(delegation.call("").name)) {
      return { text: "ok" };
    }
    const step = steps.shift();
    if (step === undefined) return { text: "done" };
    parents.push(request);
    return { calls: [step] };
  });
  const [parent, fork] = [parents.at(-1), forks[0]];
  if (parent === undefined || fork === undefined) {
    const last = requests.at(-1);
    throw new Error(`${candidate.name} did not fork: ${last?.results.at(-1)?.slice(0, 300)}`);
  }
  return {
    parentTools: parent.tools.length,
    forkTools: fork.tools.length,
    all: sharedPrefix(parent.body, fork.body, "tools and messages"),
    messages: sharedPrefix(parent.body, fork.body, "messages"),
  };
}

function forkCall(call: (prompt: string) => PeerCall): PeerCall {
  const { name, arguments: args } = call(FORK_TASK);
  return { name, arguments: { ...args as Record<string, unknown>, subagent_type: "fork" } };
}

/** Answers one prompt in a project with the definitions; returns the requests to the model. */
async function runHeadless(
  candidate: RequestCandidate,
  prompt: string,
  script: (request: PeerRequest) => PeerReply,
): Promise<readonly PeerRequest[]> {
  const model = await startPeerModel(script);
  const project = await testProject();
  try {
    const { program, args, env } = await candidate.prepare(project, model.url);
    for (const [name, description] of Object.entries(DEFINITIONS)) {
      await project.write(
        `${candidate.more.definitions}/${name}.md`,
        `---\nname: ${name}\ndescription: ${description}\n---\n\nDo that.\n`,
      );
    }
    const mm = startMm(candidate.more.headless(args, prompt), {
      program,
      cwd: project.dir,
      env: { ...project.env, ...env },
      stdin: "",
    });
    try {
      const { code } = await mm.waitForExit({ timeoutMs: LIMIT_MS });
      if (code !== 0) throw new Error(`${candidate.name} failed: ${mm.report().slice(-500)}`);
    } finally {
      await mm.stop();
    }
    return model.requests;
  } finally {
    await project.close().catch((error: Error) => note(error.message));
    await model[Symbol.asyncDispose]();
  }
}
