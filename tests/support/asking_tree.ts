/**
 * A chain of processes in the middle of its work: you ask bob, bob asks riker, riker runs a command.
 *
 * @module
 */
import { readdir } from "node:fs/promises";
import type { AcpEditor } from "./acp_editor.ts";
import { askAgent, bash, writeAgents } from "./agents.ts";
import type { MmProcess } from "./mm.ts";
import { forModel, type ModelServer, onTool, onUser } from "./model_server.ts";
import { treeOf, type TreeProcess, waitForTree } from "./process_tree.ts";
import type { TestProject } from "./project.ts";

/** How the asking agent at the top is started. */
export type TopMode = "-acp" | "-line" | "-p" | "--ask";

/** A command that riker runs, and how to see that all of it runs. */
export interface RikersCommand {
  readonly text: string;
  /** A part of the command line of each process it leads to. */
  readonly runs: readonly string[];
}

/** A command with a second process in the background. */
export const TWO_SLEEPS: RikersCommand = {
  text: "sleep 300 & sleep 301",
  runs: ["sleep 300", "sleep 301"],
};

/** A command that only KILL ends. */
export const STUBBORN: RikersCommand = {
  text: "trap '' TERM HUP INT; sleep 302 & sleep 303; wait",
  runs: ["sleep 302", "sleep 303"],
};

/** The file that lets {@linkcode RELEASED} end. */
export const RELEASE = "go";

/** A command that ends once {@linkcode RELEASE} exists, and leaves a process in the background. */
export const RELEASED: RikersCommand = {
  text: `sleep 304 & until [ -e ${RELEASE} ]; do sleep 0.05; done`,
  runs: ["sleep 304"],
};

/** A command that says more than any pipe holds. */
export const FLOOD: RikersCommand = {
  text: "sleep 306 & while true; do echo 'more and more and more'; done",
  runs: ["sleep 306"],
};

/** What bob says to a question without any work. */
export const PONG = "bob is here";

/** What bob says when riker's work is over, whatever became of it. */
export const DUG = "bob has dug";

/** A chain that works. */
export interface AskingTree {
  readonly mm: MmProcess;
  readonly server: ModelServer;
  /** Every process of the chain, the helpers of mm included. */
  readonly members: readonly TreeProcess[];
  /** The chain's process whose command line has a text. */
  member(text: string): TreeProcess;
  /** Looks at the chain again. */
  look(): Promise<TreeProcess[]>;
}

/** Writes the agents and the script of their models: `dig` runs the command, `ping` answers. */
export async function writeDiggers(p: TestProject, command: RikersCommand): Promise<ModelServer> {
  const server = await p.model({
    reply: [
      forModel("riker", onUser("run", { toolCalls: [bash(command.text)] })),
      forModel("riker", onTool(/(?:)/u, { text: "riker has run it" })),
      forModel("bob", onUser("ping", { text: PONG })),
      forModel("bob", onUser("dig", { toolCalls: [askAgent("riker", "run")] })),
      forModel("bob", onTool(/(?:)/u, { text: DUG })),
    ],
  });
  await writeAgents(p, { server, you: { yolo: true } });
  return server;
}

/** Starts the top in a mode and waits until riker's command runs. */
export async function growTree(
  p: TestProject,
  mode: TopMode,
  command: RikersCommand,
): Promise<AskingTree> {
  const server = await writeDiggers(p, command);
  const mm = await startTop(p, mode);
  return await grown(p, mm, server, command);
}

/** Waits until the chain below an mm that was told to dig is complete. */
export async function grown(
  p: TestProject,
  mm: MmProcess,
  server: ModelServer,
  command: RikersCommand,
): Promise<AskingTree> {
  const look = () => treeOf(mm.pid, p.mark);
  const members = await waitForTree(
    look,
    (tree) =>
      command.runs.every((run) => tree.some((one) => one.command.endsWith(run))) &&
      // Each mm of the chain started a process, so each has its helper.
      tree.filter((one) => one.command.includes("mm-reaper")).length === 3,
  );
  return { mm, server, members, look, member: (text) => memberOf(members, text) };
}

/** Asks in an editor's session; whatever comes of it is looked at elsewhere. */
export function dig(editor: AcpEditor, session: string): Promise<unknown> {
  return editor.prompt(session, "/ask-bob dig").then(
    (reply) => reply,
    (error: unknown) => error,
  );
}

/** Names of the private directories that any mm of a project left. */
export async function privateDirectories(p: TestProject): Promise<string[]> {
  return (await readdir(p.env["TMPDIR"] ?? "")).filter((name) => name.startsWith("mm-"));
}

async function startTop(p: TestProject, mode: TopMode): Promise<MmProcess> {
  switch (mode) {
    case "-acp": {
      const editor = p.editor();
      void dig(editor, await editor.start());
      return editor.mm;
    }
    case "-line": {
      const mm = p.mm(["-line"]);
      mm.writeLine("/ask-bob dig");
      return mm;
    }
    case "-p":
      return p.mm(["-p", "/ask-bob dig"]);
    case "--ask":
      return p.mm(["--ask", "bob", "dig"]);
  }
}

function memberOf(members: readonly TreeProcess[], text: string): TreeProcess {
  const found = members.find((one) => one.command.includes(text));
  if (found === undefined) throw new Error(`No process of the chain has "${text}"`);
  return found;
}
