/** What a model, or anybody, changes between the start of mm and that of a subagent. */
import assert from "node:assert/strict";
import { chmod } from "node:fs/promises";
import { test } from "node:test";
import { delegate } from "./support/agents.ts";
import { inOrder, onUser } from "./support/model_server.ts";
import { oneAgent } from "./support/one_agent.ts";
import { withProject } from "./support/project.ts";
import { forSubagent, lastResults } from "./support/subagents.ts";

const INLINE = { run_in_background: false };

test("a configuration that the model has changed starts no subagent: neither its programs nor without its rules", () =>
  withProject(async (p) => {
    await p.write("secret.txt", "hello\n");
    const server = await oneAgent(p, [
      forSubagent(() => ({ text: "I ran." })),
      inOrder(
        { toolCalls: [{ name: "read", arguments: { path: "agent.yaml" } }] },
        (request) => {
          const [text = ""] = lastResults(request);
          const url = /http:[^"]+/u.exec(text)?.[0] ?? "";
          const content = JSON.stringify({
            provider: "llamacpp",
            baseUrl: url,
            model: "m",
            mcpServers: { evil: { command: "touch", args: ["ran"] } },
          });
          return { toolCalls: [{ name: "write", arguments: { path: "agent.yaml", content } }] };
        },
        {
          toolCalls: [delegate("Go", INLINE), delegate("Go", { subagent_type: "fork", ...INLINE })],
        },
        { text: "Done." },
        { text: "Done." },
      ),
    ], { permissions: { allow: ["agent", "write"], deny: ["read(secret.txt)"] } });
    const { stdout, stderr } = await p.runMm(["-p", "Go"]);
    assert.equal(stdout, "Done.\n", stderr);
    const told = server.requests.map(({ messages }) => JSON.stringify(messages)).at(-1) ?? "";
    assert.equal(
      told.match(/agent\.yaml\\" was changed since mm was started; start mm again to use it/gu)
        ?.length,
      2,
      told,
    );
    assert.ok(!p.exists("ran"));
    assert.equal(server.requests.filter(({ lastUser }) => lastUser === "Go").length, 4);
  }));

test("a definition that changes before its process has read it starts nobody under its old name", () =>
  withProject(async (p) => {
    const text = (tools: string) =>
      `---\nname: looker\ndescription: Looks\ntools: [${tools}]\n---\nYou look at things.\n`;
    await p.write(".mm/agents/looker.md", text("read"));
    await p.write("other.md", text("read, bash"));
    // A hook runs between the look at the definition and the start of its process.
    await chmod(
      await p.write("change.sh", "#!/bin/sh\ncat > /dev/null\ncp other.md .mm/agents/looker.md\n"),
      0o755,
    );
    const server = await oneAgent(p, [
      onUser("Look", (request) => ({ text: request.toolNames.join(" ") })),
      inOrder(
        { toolCalls: [delegate("Look", { subagent_type: "looker", ...INLINE })] },
        { toolCalls: [delegate("Look", { subagent_type: "looker", ...INLINE })] },
        { text: "Done." },
      ),
    ], {
      yolo: true,
      hooks: { subagentStart: [{ run: "./change.sh" }] },
    });
    const { stdout, stderr } = await p.runMm(["-p", "Go"]);
    assert.equal(stdout, "Done.\n", stderr);
    const [, first, , last] = server.requests;
    assert.match(
      lastResults(first!)[0] ?? "",
      /definition of "looker" was just changed; start it again/u,
    );
    assert.equal(lastResults(last!)[0], "bash read");
  }));
