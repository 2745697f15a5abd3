/**
 * A stage for turns of one agent: a session of `mm -acp` under yolo, and a check that the conversation
 * goes on afterwards.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { AcpEditor } from "./acp_editor.ts";
import type { Keys } from "./agents.ts";
import { type ModelServer, onUser, type Rule } from "./model_server.ts";
import { oneAgent } from "./one_agent.ts";
import { type TestProject, withProject } from "./project.ts";

/** A turn of one agent, driven over ACP. */
export interface Stage {
  readonly p: TestProject;
  readonly server: ModelServer;
  readonly editor: AcpEditor;
  readonly session: string;
}

/** Runs `body` with a session of an agent under yolo; `keys` change its configuration. */
export function withTurn(
  reply: Rule | readonly Rule[],
  body: (stage: Stage) => Promise<void>,
  keys: Keys = {},
): Promise<void> {
  return withProject(async (p) => {
    const server = await oneAgent(p, reply, { yolo: true, ...keys });
    const editor = p.editor();
    const session = await editor.start();
    await body({ p, server, editor, session });
  });
}

/** Asks once more, to see that the conversation is still one that strict templates accept. */
export async function asksAgain({ editor, server, session }: Stage): Promise<string[]> {
  const { stopReason } = await editor.prompt(session, "Still there?");
  assert.equal(stopReason, "end_turn");
  assert.match(editor.text(session), /Still here\.$/);
  return (server.requests.at(-1)?.messages ?? []).slice(1)
    .map((m) => `${m.role}: ${typeof m.content === "string" ? m.content : ""}`);
}

/** Answers that question. */
export const still: Rule = onUser("Still there?", { text: "Still here." });
