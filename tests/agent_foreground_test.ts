import assert from "node:assert/strict";
import { test } from "node:test";
import { bash, delegate } from "./support/agents.ts";
import { inOrder, onUser } from "./support/model_server.ts";
import { oneAgent } from "./support/one_agent.ts";
import { withProject } from "./support/project.ts";

test("a subagent that is waited for gives its report as the result of the call", () =>
  withProject(async (p) => {
    const server = await oneAgent(
      p,
      [
        onUser("Find it", { text: "It is in a.ts." }),
        inOrder(
          { toolCalls: [delegate("Find it", { run_in_background: false })] },
          { text: "Found." },
        ),
      ],
      { yolo: true },
    );
    const { stdout, stderr, code } = await p.runMm(["-p", "Where is it?"]);
    assert.equal(stdout, "Found.\n", stderr);
    assert.equal(code, 0);
    assert.equal(server.requests.length, 3);
    const [, child, last] = server.requests;
    assert.equal(child?.lastUser, "Find it");
    assert.equal(child?.messages.length, 2);
    assert.deepEqual(last?.last, { role: "tool", text: "It is in a.ts." });
  }));

test("what runs in the background is told in a later turn, and -p waits for it", () =>
  withProject(async (p) => {
    const server = await oneAgent(
      p,
      [
        onUser("Find it", { text: "It is in a.ts." }),
        inOrder(
          { toolCalls: [delegate("Find it")] },
          { text: "I wait." },
          { text: "Found." },
        ),
      ],
      { yolo: true },
    );
    const { stdout, stderr, code } = await p.runMm(["-p", "Where is it?"]);
    assert.equal(stdout, "Found.\n", stderr);
    assert.equal(code, 0);
    const last = server.requests.at(-1);
    assert.match(
      last?.lastUser ?? "",
      /^<task-notification>\n<task id="task-[0-9a-f]{6}" agent="general-purpose" status="completed"/,
    );
    assert.match(last?.lastUser ?? "", /It is in a\.ts\./);
  }));

test("a fork begins with the requests of its parent, byte for byte", () =>
  withProject(async (p) => {
    const server = await oneAgent(
      p,
      [
        (request) => request.last.text.includes("Look into b") ? { text: "b is fine." } : undefined,
        inOrder(
          { toolCalls: [bash("echo hi")] },
          { toolCalls: [delegate("Look into b", { subagent_type: "fork" })] },
          { text: "I wait." },
          { text: "All fine." },
        ),
      ],
      { yolo: true },
    );
    const { stdout, stderr } = await p.runMm(["-p", "Look into a and b"]);
    assert.equal(stdout, "All fine.\n", stderr);
    const fork = server.requests.find((r) =>
      r.last.text.includes("Look into b") && r.last.role === "tool"
    );
    const before = server.requests[1];
    assert.ok(fork !== undefined && before !== undefined);
    assert.equal(JSON.stringify(fork.body.tools), JSON.stringify(before.body.tools));
  }));
