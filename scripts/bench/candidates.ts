/**
 * The agents that are compared: mm by two of its tools, and agents of others as npm has them.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { DELEGATION_TOOLS } from "../../lib/config/tool_names.ts";
import {
  missing,
  NODE_PACKAGE,
  nodePath,
  type Peer,
  type PeerDelegation,
  PEERS,
  PEERS_DIR,
} from "../../tests/interop/peers.ts";
import type { PeerCall } from "../../tests/interop/peer_wire.ts";
import type { Program } from "../../tests/support/program.ts";
import type { TestProject } from "../../tests/support/project.ts";
import { ROOT } from "../checks/repository.ts";
import { installPackage } from "../peers/install.ts";
import { compiledMm } from "./compiled.ts";

/** A program that can be started. */
export interface Prepared {
  readonly program: Program;
  /** What makes it speak ACP. */
  readonly args: readonly string[];
  /** Variables besides the project's. */
  readonly env: Readonly<Record<string, string>>;
}

/** An agent that hands work over. */
export interface Candidate {
  readonly name: string;
  readonly delegation: PeerDelegation;
  /** Writes its configuration into a project; its models are at `url`. */
  prepare(project: TestProject, url: string): Promise<Prepared>;
  /** The call that shows its version, without arguments of its own configuration. */
  readonly version: Program;
  /** The files and folders it consists of, the runtime it needs included; none for sources. */
  readonly installed: readonly string[];
  /** What delegation is made of besides a hand-over; absent where that is not compared. */
  readonly more?: CandidateMore;
}

/** What is known about an agent whose delegation is looked into. */
export interface CandidateMore {
  /** The folder of its definitions, in a project. */
  readonly definitions: string;
  /** The call by which its model runs a command. */
  run(command: string): PeerCall;
  /** The arguments that make it answer one prompt and end, from those that make it speak ACP. */
  headless(acpArgs: readonly string[], prompt: string): readonly string[];
}

/** The peers that can be measured here, and why the others cannot. */
export interface FoundPeers {
  readonly candidates: readonly Candidate[];
  readonly leftOut: readonly { readonly name: string; readonly why: string }[];
}

/** Hand-overs at the same time: no limit of mm may be in their way. */
const MAX_PARALLEL = 8;

/**
 * Returns the program of mm by what it is called: `source`, `compiled`, or a JSON array.
 *
 * @throws {Error} when it has to be compiled and cannot be, with what to do.
 */
export async function mmProgram(chosen: string): Promise<Program> {
  if (chosen === "compiled") return await compiledMm();
  return chosen === "source"
    ? [process.execPath, "run", "-A", "--no-check", join(ROOT, "cli.ts")]
    : JSON.parse(chosen) as Program;
}

/** Returns what both kinds of mm are. */
function mmParts(program: Program): Pick<Candidate, "prepare" | "version" | "installed"> {
  return {
    prepare: (project, url) => prepareMm(project, url, program),
    version: [...program, "-version"],
    installed: program.length === 1 ? program : [],
  };
}

/** Returns mm as it hands over with `ask_agent`, to another configuration. */
export function mmAsking(program: Program): Candidate {
  return {
    name: "mm ask_agent",
    delegation: {
      call: (prompt) => ({ name: "ask_agent", arguments: { agent: "bob", prompt } }),
      family: ["ask_agent"],
    },
    ...mmParts(program),
  };
}

/** Returns mm as it hands over with `agent`, to a subagent that has all its tools. */
export function mmDelegating(program: Program): Candidate {
  return {
    name: "mm agent",
    delegation: {
      call: (prompt) => ({
        name: "agent",
        arguments: {
          description: "answer",
          prompt,
          subagent_type: "general-purpose",
          run_in_background: false,
        },
      }),
      family: DELEGATION_TOOLS,
    },
    ...mmParts(program),
    more: {
      definitions: ".mm/agents",
      run: (command) => ({ name: "bash", arguments: { command } }),
      headless: (_acpArgs, prompt) => ["-p", prompt],
    },
  };
}

async function prepareMm(project: TestProject, url: string, program: Program): Promise<Prepared> {
  const agent = { provider: "custom", baseUrl: url, model: "mock", yolo: true };
  const bob = { path: "bob.yaml", description: "answers" };
  const agents = { maxParallel: MAX_PARALLEL };
  await project.write("agent.yaml", JSON.stringify({ ...agent, agents, mmConfigs: { bob } }));
  await project.write("bob.yaml", JSON.stringify({ ...agent, tools: [] }));
  return { program, args: ["-acp"], env: {} };
}

/**
 * Installs the peers that are not there yet, outside of the repository.
 *
 * @param names of peers; all of them when absent.
 */
export async function findPeers(names?: readonly string[]): Promise<FoundPeers> {
  process.env.MM_INTEROP = "1";
  if (!existsSync(nodePath())) {
    await installPackage({ folder: join(PEERS_DIR, "node"), name: NODE_PACKAGE, scripts: false });
  }
  const candidates: Candidate[] = [];
  const leftOut: { name: string; why: string }[] = [];
  for (const peer of PEERS.filter(({ name }) => names?.includes(name) ?? true)) {
    let why = missing(peer);
    if (why !== undefined) {
      const folder = join(PEERS_DIR, peer.name);
      const failure = await installPackage({ folder, name: peer.package, scripts: peer.scripts });
      why = failure ?? missing(peer);
    }
    if (why === undefined) candidates.push(candidateOf(peer));
    else leftOut.push({ name: peer.name, why: why.replaceAll(/\s+/gu, " ") });
  }
  return { candidates, leftOut };
}

function candidateOf(peer: Peer): Candidate {
  const folder = join(PEERS_DIR, peer.name, "node_modules");
  const executable = join(folder, ".bin", peer.executable);
  return {
    name: peer.name,
    version: peer.ownRuntime ? [executable, "--version"] : [nodePath(), executable, "--version"],
    installed: peer.ownRuntime ? [folder] : [folder, nodePath()],
    delegation: peer.delegation,
    async prepare(project, url) {
      const home = join(project.home, peer.name);
      await mkdir(home, { recursive: true });
      const entry = await peer.entry({ url, home, trusted: true });
      const [program, ...args] = entry["command"] as [string, ...string[]];
      return { program: [program], args, env: entry["env"] as Record<string, string> };
    },
    ...(peer.name === "qwen" ? { more: moreOfQwen(peer) } : {}),
  };
}

function moreOfQwen({ run }: Peer): CandidateMore {
  return {
    definitions: ".qwen/agents",
    run,
    headless: (acpArgs, prompt) => [
      ...acpArgs.filter((one) => one !== "--acp"),
      "--approval-mode",
      "yolo",
      "-p",
      prompt,
    ],
  };
}
