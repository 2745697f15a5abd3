/** What a model writes to get past the rules about who may be started. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { delegate } from "./support/agents.ts";
import { inOrder } from "./support/model_server.ts";
import { oneAgent } from "./support/one_agent.ts";
import { withProject } from "./support/project.ts";
import { forSubagent, lastResults } from "./support/subagents.ts";

const INLINE = { run_in_background: false };

test("a rule that denies a subagent holds in every spelling of its name, whatever starts it", () =>
  withProject(async (p) => {
    const types = [
      "explore",
      "Explore",
      " EXPLORE\n",
      "Fork",
      " fork",
      "HELPER",
      "u\u0308ber",
      "bob",
    ];
    const server = await oneAgent(p, [
      forSubagent(() => ({ text: "I ran." })),
      inOrder(
        { toolCalls: types.map((type) => delegate("Go", { subagent_type: type, ...INLINE })) },
        { toolCalls: [delegate("Go", { subagent_type: "general-purpose", ...INLINE })] },
        { text: "Done." },
      ),
    ], {
      yolo: true,
      mmConfigs: { bob: { path: "bob.yaml" } },
      permissions: {
        deny: ["agent(explore)", "agent(fork)", "agent(Helper)", "agent(Über)", "ask_agent(bob)"],
      },
    });
    for (const name of ["Helper", "Über"]) {
      await p.write(
        `.mm/agents/${name}.md`,
        `---\nname: ${name}\ndescription: Does it\n---\nYou do all of it.\n`,
      );
    }
    await p.write(
      "bob.yaml",
      JSON.stringify({ provider: "llamacpp", baseUrl: server.url, model: "bob" }),
    );
    const { stdout, stderr } = await p.runMm(["-p", "Go"]);
    assert.equal(stdout, "Done.\n", stderr);
    const [, first, last] = server.requests;
    for (const [at, text] of lastResults(first!).entries()) {
      assert.match(
        text,
        /^Not (?:run|started): the rule ".*" denies (?:agent|ask_agent)/u,
        types[at],
      );
    }
    // Nobody else is denied.
    assert.equal(last?.system.includes("You are a subagent"), true);
    assert.equal(server.requests.length, 4);
  }));
