/**
 * Slash commands: which there are, and what a prompt that is one means.
 *
 * @module
 */
import { didYouMean } from "../base/nearest.ts";
import type { AgentEntry } from "../config/types.ts";
import type { CommandInfo } from "./types.ts";

/** A prompt, as a session understands it. */
export type Command =
  | { readonly kind: "prompt" }
  | {
    readonly kind: "ask";
    readonly agent: string;
    readonly prompt: string;
    readonly withContext: boolean;
  }
  | { readonly kind: "info"; readonly name: InfoName; readonly rest: string }
  /** `name` is empty for the list. */
  | { readonly kind: "model"; readonly name: string }
  | { readonly kind: "quit" }
  | { readonly kind: "new" }
  /** `rest`: nothing for the list, an id, or `stop` or `tell` and an id. */
  | { readonly kind: "tasks"; readonly rest: string }
  | { readonly kind: "fork"; readonly directive: string }
  /** `rest`: nothing for the list, or what is to be done with a definition. */
  | { readonly kind: "agents"; readonly rest: string }
  /** `focus`: what shall be kept above all; empty for nothing in particular. */
  | { readonly kind: "compact"; readonly focus: string }
  | { readonly kind: "sessions" }
  /** `beginning` of an id. */
  | { readonly kind: "resume"; readonly beginning: string }
  | { readonly kind: "wrong"; readonly message: string };

/** Commands that tell or set something and need no model. */
export type InfoName = "help" | "tools" | "mcp" | "yolo" | "status";

const FIXED: readonly CommandInfo[] = [
  { name: "help", description: "Show the commands" },
  { name: "new", description: "Begin a fresh conversation" },
  { name: "sessions", description: "List the saved conversations of this directory" },
  { name: "resume", description: "Go on with a saved conversation", hint: "id" },
  {
    name: "compact",
    description: "Put a summary in place of the older part of the conversation",
    hint: "what to keep above all",
  },
  {
    name: "agents",
    description: "Show who can be asked and the subagents there are, or make and change one",
    hint: "show | create | set",
  },
  {
    name: "tasks",
    description: "Show the subagents in the background",
    hint: "id | stop id | tell id message",
  },
  { name: "fork", description: "Let a copy of this conversation work on a task", hint: "task" },
  { name: "model", description: "Show the models, or take another one", hint: "name" },
  { name: "tools", description: "Show the tools and which of them ask" },
  { name: "mcp", description: "Show the MCP servers, their state and their tools" },
  { name: "yolo", description: "Run gated calls without asking, or ask again", hint: "on | off" },
  { name: "status", description: "Show the model, the directory and the window in use" },
  { name: "quit", description: "Leave" },
];

const ASK: readonly CommandInfo[] = [
  { name: "ask", description: "Ask another agent", hint: "agent question" },
  {
    name: "ask-with-context",
    description: "Ask another agent, sending this conversation's transcript first",
    hint: "agent question",
  },
];

/** Returns the commands of a session, those of each agent included. */
export function commandsOf(agents: readonly AgentEntry[]): CommandInfo[] {
  if (agents.length === 0) return [...FIXED];
  const each = agents.flatMap(({ name, description }) => {
    const what = description === undefined ? "" : `: ${description}`;
    return [
      { name: `ask-${name}`, description: `Ask ${name}${what}`, hint: "question" },
      {
        name: `ask-with-context-${name}`,
        description: `Ask ${name} with this conversation's transcript${what}`,
        hint: "question",
      },
    ];
  });
  return [...FIXED, ...ASK, ...each];
}

/**
 * Reads a prompt. Text that begins with a slash and a word is a command; a path such as `/etc/hosts`
 * is not, for another slash follows its first word.
 *
 * @param agents the configured ones, also where none may be asked: who types `/ask-bob` there is
 * told why not, not that there is no such command.
 */
export function readCommand(text: string, agents: readonly AgentEntry[]): Command {
  const match = /^\s*\/([A-Za-z][\w-]*)(?=\s|$)\s*([\s\S]*)$/u.exec(text);
  const [, name = "", rest = ""] = match ?? [];
  if (match === null) return { kind: "prompt" };
  switch (name) {
    case "quit":
    case "new":
      return { kind: name };
    case "sessions":
      return { kind: "sessions" };
    case "agents":
      return { kind: "agents", rest: rest.trim() };
    case "tasks":
      return { kind: "tasks", rest: rest.trim() };
    case "fork":
      return { kind: "fork", directive: rest.trim() };
    case "compact":
      return { kind: "compact", focus: rest.trim() };
    case "resume":
      return rest.trim() === "" ? { kind: "sessions" } : { kind: "resume", beginning: rest.trim() };
    case "model":
      return { kind: "model", name: rest.trim() };
    case "help":
    case "tools":
    case "mcp":
    case "yolo":
    case "status":
      return { kind: "info", name, rest: rest.trim() };
    case "ask":
    case "ask-with-context": {
      const [, agent = "", prompt = ""] = /^(\S+)\s*([\s\S]*)$/u.exec(rest) ?? [];
      return askCommand({ name, agent, prompt, withContext: name === "ask-with-context" });
    }
  }
  for (const { name: agent } of agents) {
    if (name === `ask-${agent}`) {
      return askCommand({ name, agent, prompt: rest, withContext: false });
    }
    if (name === `ask-with-context-${agent}`) {
      return askCommand({ name, agent, prompt: rest, withContext: true });
    }
  }
  const names = commandsOf(agents).map((command) => `/${command.name}`);
  return {
    kind: "wrong",
    message: `There is no command /${name}, see /help${didYouMean(`/${name}`, names)}`,
  };
}

function askCommand(
  ask: { name: string; agent: string; prompt: string; withContext: boolean },
): Command {
  const { name, agent, withContext } = ask;
  const prompt = ask.prompt.trim();
  if (agent === "") return { kind: "wrong", message: `/${name} needs an agent and a question` };
  if (prompt === "") return { kind: "wrong", message: `/${name} needs a question` };
  return { kind: "ask", agent, prompt, withContext };
}
