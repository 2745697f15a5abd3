import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type AgentArguments,
  type AgentOffer,
  agentSchema,
  isFork,
  strictArguments,
} from "./agent_arguments.ts";
import { agentTool } from "./agent_tool.ts";

const ALL: AgentOffer = { background: true, forks: true, worktrees: true };
const NOTHING: AgentOffer = { background: false, forks: false, worktrees: false };
const TASK = { description: "A task", prompt: "Do it" };

/** Reads arguments as the tool does: what it would start with, or what it says is wrong. */
function read(more: Readonly<Record<string, unknown>>, offer = ALL): AgentArguments | string {
  const tool = agentTool({
    offer,
    backgroundByDefault: true,
    headless: false,
    definitions: [],
    launch: () => Promise.reject(new Error("Nothing is started here")),
  });
  const parsed = tool.parse({ ...TASK, ...more });
  return "error" in parsed ? parsed.error : parsed.input as AgentArguments;
}

/** What is not accepted, and a piece of what the model is told. */
const REFUSED: readonly (readonly [Readonly<Record<string, unknown>>, RegExp])[] = [
  [{ description: undefined }, /"description" is missing, it has to be text/u],
  [{ description: "" }, /"description": is blank/u],
  [{ description: " \n" }, /"description": is blank/u],
  [{ description: ["a"] }, /"description" has to be text/u],
  [{ prompt: undefined }, /"prompt" is missing/u],
  [{ prompt: "\t" }, /"prompt": is blank/u],
  [{ prompt: null }, /"prompt" is missing/u],
  [{ subagent_type: "" }, /"subagent_type" is no name; leave it out for general-purpose/u],
  [{ subagent_type: "  " }, /"subagent_type" is no name/u],
  [{ subagent_type: 7 }, /"subagent_type" is no name/u],
  [
    { subagent_type: "fork", fork_turns: 3 },
    /^fork_turns is the number 3; write "all", or .* "3"/u,
  ],
  [{ subagent_type: "fork", fork_turns: "0" }, /^fork_turns is "0"; write/u],
  [{ subagent_type: "fork", fork_turns: "-1" }, /^fork_turns is "-1"/u],
  [{ subagent_type: "fork", fork_turns: ["3"] }, /^fork_turns is no text/u],
  [{ fork_turns: "3" }, /"fork_turns": goes with subagent_type "fork" only/u],
  [
    { subagent_type: "explore", fork_turns: "all" },
    /"fork_turns": goes with subagent_type "fork"/u,
  ],
  [{ fork_tools: ["read"] }, /"fork_tools": goes with subagent_type "fork" only/u],
  [{ fork_profile: "ro" }, /"fork_profile": goes with subagent_type "fork" only/u],
  [{ subagent_type: "fork", fork_tools: "read" }, /"fork_tools" has to be a list/u],
  [{ subagent_type: "fork", fork_tools: [""] }, /^fork_tools\[0\] is empty/u],
  [{ subagent_type: "fork", fork_tools: ["read", " grep"] }, /fork_tools\[1\] .* white space/u],
  [
    { subagent_type: "fork", fork_tools: ["*"] },
    /fork_tools\[0\] is "\*"; leave the whole list out/u,
  ],
  [{ subagent_type: "fork", fork_tools: ["read_*"] }, /only at the end of a pattern of MCP tools/u],
  [
    { subagent_type: "fork", fork_tools: ["mcp__x*"] },
    /only at the end of a pattern of MCP tools/u,
  ],
  [{ subagent_type: "fork", fork_tools: ["mcp__*__x"] }, /only at the end of a pattern/u],
  [
    { subagent_type: "fork", fork_tools: ["read"], fork_profile: "ro" },
    /"fork_profile": does not go with fork_tools; send one of the two/u,
  ],
  [{ subagent_type: "FORK", isolation: "worktree" }, /"isolation": does not go with a fork/u],
  [{ subagent_type: "fork", working_dir: "../x" }, /"working_dir": does not go with a fork/u],
  [
    { isolation: "container", subagent_type: "explore" },
    /^"isolation": has to be "worktree"; leave it out for none$/u,
  ],
  [{ isolation: "worktree" }, /"isolation": needs a subagent_type by name/u],
  [{ working_dir: "../x" }, /"working_dir": needs a subagent_type by name/u],
  [
    { subagent_type: "explore", working_dir: "../x", run_in_background: true },
    /"run_in_background": is true, but a run in a working_dir is waited for/u,
  ],
  [{ run_in_background: "yes" }, /"run_in_background" has to be true or false/u],
  [{ run_in_background: 1 }, /"run_in_background" has to be true or false/u],
  [{ subagent_typ: "explore" }, /"subagent_typ" is not an argument.*subagent_type/u],
  [{ name: "mate" }, /"name" is not an argument.*The arguments are description, prompt,/u],
  [{ model: "big" }, /"model" is not an argument/u],
  [{ todo_id: "1" }, /"todo_id" is not an argument/u],
  [{ plan_mode_required: true, read_only: true }, /"read_only" is not an argument/u],
];

for (const [args, words] of REFUSED) {
  test(`${JSON.stringify(args)} is refused, and the model told what to write`, () => {
    const told = read(args);
    assert.equal(typeof told, "string", JSON.stringify(told));
    assert.match(told as string, words);
  });
}

test("several faults are told at once", () => {
  const told = read({
    subagent_type: "fork",
    fork_tools: ["*"],
    fork_turns: "0",
    isolation: "worktree",
  });
  assert.match(told as string, /fork_turns.*fork_tools.*isolation/u);
});

test("the text false means false, and is no run in the background", () => {
  for (const value of ["false", "False", false]) {
    assert.deepEqual(read({ run_in_background: value }), {
      ...TASK,
      subagent_type: "general-purpose",
      run_in_background: false,
    });
  }
  const told = read({ run_in_background: "true" });
  assert.equal((told as AgentArguments).run_in_background, true);
});

test("an optional argument that is null or empty is not there", () => {
  const given = read({
    subagent_type: null,
    fork_turns: null,
    fork_tools: null,
    run_in_background: null,
    isolation: null,
    working_dir: "",
  });
  assert.deepEqual(given, { ...TASK, subagent_type: "general-purpose" });
});

test("an isolation beside a working_dir is let pass: the directory counts", () => {
  const given = read({ subagent_type: "explore", isolation: "worktree", working_dir: "../x" });
  assert.equal((given as AgentArguments).working_dir, "../x");
});

test("a fork takes turns, a list of tools that may be empty, or a profile", () => {
  for (
    const more of [
      {},
      { fork_turns: "all" },
      { fork_turns: "3", fork_tools: [] },
      { fork_tools: ["read_file", "mcp__*", "mcp__github", "mcp__github__read_*"] },
      { fork_profile: "ro-research", run_in_background: false },
    ]
  ) {
    assert.deepEqual(read({ subagent_type: "fork", ...more }), {
      ...TASK,
      subagent_type: "fork",
      ...more,
    });
  }
});

test("isFork() knows a fork in any case, and nothing else", () => {
  for (const subagent_type of ["fork", "Fork", " FORK "]) {
    assert.ok(isFork({ ...TASK, subagent_type }));
  }
  for (const subagent_type of [undefined, "forks", "general-purpose"]) {
    assert.ok(!isFork({ ...TASK, subagent_type }));
  }
});

test("what is not offered is no argument", () => {
  const known = (offer: AgentOffer) => Object.keys(agentSchema(offer).shape);
  assert.deepEqual(known(NOTHING), ["description", "prompt", "subagent_type"]);
  for (const name of known(ALL).filter((one) => !known(NOTHING).includes(one))) {
    if (name === "run_in_background") continue;
    assert.match(
      read({ [name]: "x" }, NOTHING) as string,
      new RegExp(`"${name}" is not an argument`, "u"),
    );
  }
});

test("where nothing runs in the background, false is let pass and true is told why not", () => {
  for (const value of [false, "false"]) {
    assert.deepEqual(read({ run_in_background: value }, NOTHING), {
      ...TASK,
      subagent_type: "general-purpose",
    });
  }
  for (const value of [true, "true"]) {
    assert.match(
      read({ run_in_background: value }, NOTHING) as string,
      /nothing runs in the background here, for no notification would come; leave it out/u,
    );
  }
});

test("strictArguments() leaves what is no object to the tolerant reading", () => {
  for (const raw of ["x", null, 5, ["a"]]) assert.deepEqual(strictArguments(raw, ALL), { raw });
});
