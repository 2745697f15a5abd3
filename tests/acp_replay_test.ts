/** What an editor is shown of a conversation that it loads, against what another one saw of it live. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AcpEditor, Json } from "./support/acp_editor.ts";
import { askAgent, bash, writeAgents } from "./support/agents.ts";
import { forModel, type ModelServer, onTool, onUser, type Rule } from "./support/model_server.ts";
import { type TestProject, withProject } from "./support/project.ts";

/** Kinds that tell a state and no part of the conversation. */
const STATES = new Set([
  "available_commands_update",
  "config_option_update",
  "current_mode_update",
  "session_info_update",
  "usage_update",
  "compaction_update",
  "compaction_summary_chunk",
]);

/**
 * What was shown of a session, in order: pieces of one message together, each call when it was announced
 * and when it ended, ids in place of those of the process by their order.
 */
function shown(editor: AcpEditor, session: string): Json[] {
  const story: Json[] = [];
  const ids = new Map<string, string>();
  const named = (id: string) => {
    const known = ids.get(id) ?? `id ${ids.size + 1}`;
    ids.set(id, known);
    return known;
  };
  const messages = new Map<string, Json>();
  for (const { update } of editor.updates.filter((u) => u.sessionId === session)) {
    const { sessionUpdate, messageId, toolCallId, _meta, ...rest } = update;
    if (STATES.has(sessionUpdate)) continue;
    const mm = { ..._meta?.mm };
    if (mm.parentCallId !== undefined) mm.parentCallId = named(mm.parentCallId);
    const entry: Json = { update: sessionUpdate, ...rest, ...mm };
    if (toolCallId !== undefined) {
      // States in between and output while it ran are of use only then.
      if (sessionUpdate === "tool_call_update") {
        const titled = rest.title !== undefined && rest.status === undefined;
        const ended = rest.status === "completed" || rest.status === "failed";
        if (!titled && !ended) continue;
      }
      story.push({ ...entry, call: named(toolCallId) });
    } else if (messageId !== undefined) {
      const known = messages.get(sessionUpdate + messageId);
      if (known !== undefined) known.text += rest.content.text;
      else {
        const message = { ...entry, content: undefined, text: rest.content.text };
        messages.set(sessionUpdate + messageId, message);
        story.push(message);
      }
    } else story.push(entry);
  }
  return JSON.parse(JSON.stringify(story));
}

/** The script of all agents; `server` is the one that runs it. */
function script(server: () => ModelServer): Rule[] {
  return [
    forModel("bob", onUser("Who", { reasoning: "He asks.", text: "I am bob." })),
    forModel("bob", onUser("Check", { toolCalls: [bash("echo checked")] })),
    forModel("bob", onTool("checked", { text: "It is good." })),
    onUser("Write the summary of this conversation", () => {
      server().allowNewPrefix();
      return { text: "They asked bob." };
    }),
    onUser("Plan", {
      reasoning: "Two steps.",
      text: "I plan.",
      toolCalls: [
        {
          name: "todo",
          arguments: { todos: [{ content: "Ask bob", status: "in_progress" }] },
        },
        askAgent("bob", "Check it"),
        bash("echo wrong >&2; exit 3"),
        { name: "write", arguments: { path: "made.txt", content: "made\n" } },
        { name: "read", arguments: { path: "nowhere.txt" } },
        { name: "nonsense", arguments: {} },
      ],
    }),
    onTool("", { text: "All done 🙂." }),
    onUser("Hang", { reasoning: "Hm.", chunks: ["Half an", " answer"], holdAfter: 1, hang: true }),
    onUser("Fail", { status: 400, body: { error: { message: "boom" } } }),
    onUser("After", { text: "Still here." }),
  ];
}

/** Prompts of a person, each sent where it stands. */
const PROMPTS = ["/ask-bob Who are you?", "Plan it", "Hang", "/compact", "Fail", "After all"];

/** Has the conversation; returns its id, and what was shown of it with the prompts in their places. */
async function converse(
  p: TestProject,
  editor: AcpEditor,
  capabilities: Json,
): Promise<[string, Json[]]> {
  await editor.initialize({ clientCapabilities: capabilities });
  const session = await editor.newSession();
  editor.onPermission = (question) =>
    question.choose(/echo wrong/.test(question.toolCall.title) ? "allow_once" : "allow_always");
  const told: Json[] = [];
  for (const text of PROMPTS) {
    const from = shown(editor, session).length;
    const prompt = editor.prompt(session, text);
    prompt.catch(() => {});
    if (text === "Hang") {
      await editor.waitForText(session, "Half an");
      editor.cancel(session);
      assert.equal((await prompt).stopReason, "cancelled");
    } else if (text === "Fail") await assert.rejects(prompt, /boom/);
    else assert.equal((await prompt).stopReason, "end_turn");
    // A command is no part of the conversation; what it led to is.
    if (text !== "/compact") told.push({ prompt: text });
    told.push(...shown(editor, session).slice(from));
  }
  assert.equal(await p.read("made.txt"), "made\n");
  return [session, told];
}

for (
  const [which, capabilities] of [
    ["that takes nothing but text", {}],
    ["that takes notices and compactions", { session: { notices: {}, compaction: {} } }],
  ] as const
) {
  test(`an ask, a cancel, a compaction, failures: an editor ${which} loads what was shown`, () =>
    withProject(async (p) => {
      const server: ModelServer = await p.model({ reply: script(() => server) });
      await writeAgents(p, { server });
      const first = p.editor();
      const [session, told] = await converse(p, first, capabilities);
      first.mm.endInput();
      await first.mm.exit;

      const second = p.editor();
      await second.initialize({ clientCapabilities: capabilities });
      const params = { sessionId: session, cwd: p.dir, mcpServers: [] };
      await second.request("session/load", params);
      const again = shown(second, session).map((entry) =>
        entry.update === "user_message_chunk" ? { prompt: entry.text } : entry
      );
      assert.deepEqual(again, told);
      // What it consists of, so that a loss on both sides is seen too.
      const kinds = told.map((entry) => entry.update ?? "prompt");
      for (
        const [kind, count] of [["prompt", 5], ["plan", 1], ["tool_call", 7]] as const
      ) {
        assert.equal(kinds.filter((one) => one === kind).length, count, kind);
      }
      const states = second.toolCalls(session).map((call) => [call.name, call.status]);
      assert.deepEqual(states, [
        ["todo", "completed"],
        ["ask_agent", "completed"],
        ["bob/bash", "completed"],
        ["bash", "failed"],
        ["write", "completed"],
        ["read", "failed"],
        ["nonsense", "failed"],
      ]);
      assert.ok(told.some((entry) => entry.agent === "bob" && entry.text === "I am bob."));
      assert.ok(told.some((entry) => entry.text === "Half an"));
    }));
}
