/** A fork's requests begin with those of the conversation it was made of, byte for byte. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { runCalls, textsOf, withStage } from "./support/agent_stage.ts";
import { bash, delegate } from "./support/agents.ts";
import { mcpServer } from "./support/mcp_server.ts";
import { call } from "./support/mcp_stage.ts";
import { always, onTool, onUser, type RecordedRequest } from "./support/model_server.ts";
import { rawElements, rawMembers } from "./support/raw_json.ts";

const { send } = runCalls;

const fork = (prompt: string, more = {}) => delegate(prompt, { subagent_type: "fork", ...more });

/** The first request of the fork with a task. */
function forkOf(requests: readonly RecordedRequest[], task: string): RecordedRequest {
  const found = requests.find((request) =>
    textsOf(request).some((text) => text.endsWith(`Task:\n${task}`))
  );
  assert.ok(found !== undefined, `no fork for ${task}`);
  return found;
}

function messagesOf(request: RecordedRequest): string[] {
  return rawElements(rawMembers(request.raw).get("messages") ?? "");
}

/**
 * Checks that a request begins with all bytes of an earlier one up to its last message, and that what
 * stands beside the messages is the same.
 */
function assertBeginsWith(request: RecordedRequest, earlier: RecordedRequest): void {
  const beside = ({ raw }: RecordedRequest) =>
    [...rawMembers(raw)].filter(([name]) => name !== "messages");
  assert.deepEqual(beside(request), beside(earlier));
  const messages = rawMembers(earlier.raw).get("messages") ?? "";
  const end = Buffer.byteLength(earlier.raw.slice(0, earlier.raw.indexOf(messages))) +
    Buffer.byteLength(messages) - 1;
  const [mine, theirs] = [request, earlier].map(({ bytes }) => Buffer.from(bytes).subarray(0, end));
  assert.ok(mine?.equals(theirs ?? Buffer.alloc(0)), `${request.number} and ${earlier.number}`);
  assert.equal(request.bytes[end], ",".charCodeAt(0));
}

test("forks begin with the bytes of the conversation, whatever changed on disk, MCP tools included", () =>
  withStage([
    (r) =>
      r.last.text.includes("Call it")
        ? { toolCalls: [call("mcp__t__echo", { text: "é" })] }
        : undefined,
    always({ text: "Reported." }),
  ], async (stage) => {
    const { p } = stage;
    await stage.call(bash("printf 'é\\t\"quoted\"'; echo"), call("mcp__t__look"));
    await p.write("AGENTS.md", "Now speak of the project in rhymes.\n");
    await p.write(
      ".mm/agents/later.md",
      "---\nname: later\ndescription: came later\n---\nYou do it.",
    );
    const [, first = "", second = ""] = await stage.call(
      bash("echo now"),
      fork("Look at a"),
      fork("Call it"),
    );
    assert.match(first + second, /Started task-\w+ \(fork\).*Started task-\w+ \(fork\)/su);
    await stage.finish();
    // The request whose answer made the forks, and the one after it.
    const at = stage.own.findIndex((r) => textsOf(r).some((text) => text.includes("(fork)")));
    const [before, after] = [stage.own[at - 1], stage.own[at]];
    assert.ok(before !== undefined && after !== undefined);
    assert.ok(before.toolNames.includes("mcp__t__echo"), before.toolNames.join());
    for (const task of ["Look at a", "Call it"]) {
      const request = forkOf(stage.theirs, task);
      assertBeginsWith(request, before);
      // The calls as the model made them, with their arguments, and the result that was there.
      const shared = messagesOf(request).slice(0, before.messages.length + 2);
      assert.deepEqual(shared, messagesOf(after).slice(0, before.messages.length + 2));
      assert.equal(textsOf(request).at(before.messages.length + 1), "now\n[exit status 0]");
      assert.equal(request.messages.length, before.messages.length + 4);
    }
    const [other, own] = textsOf(forkOf(stage.theirs, "Call it")).slice(-2);
    assert.match(
      other ?? "",
      /^\[this call is carried out by the agent that you were forked from/u,
    );
    assert.match(own ?? "", /^You are a fork of this conversation/u);
    const echoed = stage.theirs.find((r) => r.last.text.startsWith("ECHO"));
    assert.equal(echoed?.last.text, "ECHO é");
    assertBeginsWith(echoed, forkOf(stage.theirs, "Call it"));
  }, { mcpServers: { t: mcpServer() } }));

test("a fork of a person, and one that goes on, begin with the bytes that were read before", () =>
  withStage([
    onUser("more", { text: "More of it." }),
    always({ text: "Reported." }),
  ], async (stage) => {
    await stage.call(bash("echo one"));
    await stage.editor.prompt(stage.session, "/fork Look around");
    await stage.finish();
    const request = forkOf(stage.theirs, "Look around");
    // The answer to the last request of the conversation, then the task.
    const [before] = stage.own.filter(({ last }) => last.text.startsWith("one"));
    assert.ok(before !== undefined);
    assertBeginsWith(request, before);
    assert.deepEqual(textsOf(request).slice(before.messages.length, -1), ["Done."]);

    const id = stage.ends[0]?.id ?? "";
    await stage.finish(send(id, "Tell me more"));
    const on = stage.theirs.at(-1);
    assert.ok(on !== undefined && on !== request);
    assertBeginsWith(on, request);
    // The conversation itself goes on as if there had been none.
    const notes = textsOf(stage.own.at(-1)).filter((text) => text.startsWith("[forked this"));
    assert.equal(notes.length, 1);
  }));

test("a fork takes the model that a person chose, and the MCP servers that an editor brought", () =>
  withStage([
    onTool("Look", { toolCalls: [call("mcp__brought__echo", { text: "hi" })] }),
    always({ text: "Reported." }),
  ], async (stage) => {
    const { command, args, env } = mcpServer();
    const server = { name: "brought", command, args, env: [] };
    assert.deepEqual(env, {});
    stage.session = await stage.editor.newSession({ mcpServers: [server] });
    await stage.editor.prompt(stage.session, "/model test-model");
    await stage.call(fork("Look"));
    await stage.finish();
    const [before] = stage.own.filter(({ last }) => last.role === "user");
    assert.ok(before !== undefined);
    assert.equal(before.model, "test-model");
    assert.ok(before.toolNames.includes("mcp__brought__echo"));
    assertBeginsWith(forkOf(stage.theirs, "Look"), before);
    assert.equal(stage.theirs.at(-1)?.last.text, "ECHO hi");
  }));
