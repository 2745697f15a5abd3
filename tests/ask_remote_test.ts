/** An agent on another machine: the same mechanism, by a command that carries the streams. */
import assert from "node:assert/strict";
import { chmod } from "node:fs/promises";
import { test } from "node:test";
import { bash, writeAgents } from "./support/agents.ts";
import { MARK, processesOf } from "./support/leftovers.ts";
import { forModel, inOrder } from "./support/model_server.ts";
import { programUnderTest } from "./support/program.ts";
import { type TestProject, withProject } from "./support/project.ts";

const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;

/** Writes a stand-in for ssh: it passes no variable on and runs its last argument with a shell. */
async function writeSsh(p: TestProject): Promise<void> {
  const kept = ["PATH", "HOME", "DENO_DIR", "TMPDIR", MARK].map((name) =>
    `${name}=${quoted(p.env[name] ?? "")}`
  );
  const ssh = await p.write("ssh", `#!/bin/sh\nshift\nexec env -i ${kept.join(" ")} sh -c "$*"\n`);
  await chmod(ssh, 0o755);
}

/** The command of an entry, with or without the variables that ssh does not pass on. */
function remote(variables: string): string[] {
  const mm = programUnderTest().map(quoted).join(" ");
  return ["./ssh", "host", `${variables} ${mm} -acp -config bob.yaml`];
}

test("a remote bob asks you, is one deeper than you, and ends with you", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: forModel(
        "bob",
        inOrder({ toolCalls: [bash("echo $MM_ASK_DEPTH")] }, { text: "Done." }),
      ),
    });
    await writeSsh(p);
    const command = remote("MM_ASK_DEPTH=1 AGENT_YOLO=false AGENT_SESSIONS=off");
    await writeAgents(p, { server, bobEntry: { command }, bob: { yolo: true } });
    const editor = p.editor();
    editor.onPermission = "allow_once";
    const session = await editor.start();
    await editor.prompt(session, "/ask-bob Go");
    assert.equal(editor.text(session), "Done.");
    assert.deepEqual(editor.permissions.map(({ toolCall }) => toolCall.name), ["bob/bash"]);
    assert.match(server.requests.at(-1)?.last.text ?? "", /^1$/mu);
    editor.mm.endInput();
    await editor.mm.waitForExit();
    assert.deepEqual(await processesOf(p.mark), []);
  }));

test("a remote bob whose file says yolo asks you all the same, though no variable told him", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: forModel("bob", inOrder({ toolCalls: [bash("echo hi")] }, { text: "Done." })),
    });
    await writeSsh(p);
    await writeAgents(p, { server, bobEntry: { command: remote("") }, bob: { yolo: true } });
    const editor = p.editor();
    editor.onPermission = "reject_once";
    const session = await editor.start();
    await editor.prompt(session, "/ask-bob Go");
    assert.equal(editor.permissions.length, 1);
    assert.match(server.requests.at(-1)?.last.text ?? "", /rejected/u);
  }));
