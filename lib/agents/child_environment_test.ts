import assert from "node:assert/strict";
import { test } from "node:test";
import { childEnvironment } from "./child_environment.ts";

const PARENT = {
  PATH: "/bin",
  HOME: "/home/me",
  AGENT_MODEL: "x",
  AGENT_PROVIDER: "y",
  AGENT_BASE_URL: "z",
  AGENT_API_KEY: "k",
  AGENT_YOLO: "true",
  MM_BIN: "/mm",
  MM_CONFIG: "/agent.yaml",
  MM_TRANSCRIPT: "/t",
  MM_STATE_DIR: "/state",
  MM_ASK_DEPTH: "0",
  OPENAI_API_KEY: "sk-parent",
  ANTHROPIC_API_KEY: "sk-other",
  UNSET: undefined,
};

test("an asked agent does not inherit what was meant for the one that asks", () => {
  const env = childEnvironment({
    env: PARENT,
    entry: { name: "bob", path: "/bob.yaml" },
    depth: 0,
  });
  assert.deepEqual(env, {
    PATH: "/bin",
    HOME: "/home/me",
    MM_STATE_DIR: "/state",
    OPENAI_API_KEY: "sk-parent",
    ANTHROPIC_API_KEY: "sk-other",
    AGENT_YOLO: "false",
    AGENT_SESSIONS: "off",
    MM_ASK_DEPTH: "1",
  });
});

test("another vendor's agent gets no provider's keys but those its entry passes", () => {
  const env = childEnvironment({
    env: PARENT,
    entry: { name: "gemini", command: ["gemini", "--acp"], env: { OPENAI_API_KEY: "sk-given" } },
    depth: 1,
  });
  assert.equal(env["OPENAI_API_KEY"], "sk-given");
  assert.equal(env["ANTHROPIC_API_KEY"], undefined);
  assert.equal(env["MM_ASK_DEPTH"], "2");
});

test("an entry cannot undo the fence", () => {
  const env = childEnvironment({
    env: {},
    entry: {
      name: "bob",
      path: "/bob.yaml",
      env: { AGENT_YOLO: "true", MM_ASK_DEPTH: "0", AGENT_SESSIONS: "on", AGENT_MODEL: "m" },
    },
    depth: 0,
  });
  assert.deepEqual(env, {
    AGENT_MODEL: "m",
    AGENT_YOLO: "false",
    AGENT_SESSIONS: "off",
    MM_ASK_DEPTH: "1",
  });
});

test("what another mm told this one for itself reaches no agent that it asks", () => {
  const env = childEnvironment({
    env: { PATH: "/bin", MM_SUBAGENT_STATE: "/state/subagents", MM_TRANSCRIPT: "/t" },
    entry: { name: "bob", path: "/bob.yaml" },
    depth: 1,
  });
  assert.deepEqual(Object.keys(env).sort(), [
    "AGENT_SESSIONS",
    "AGENT_YOLO",
    "MM_ASK_DEPTH",
    "PATH",
  ]);
});
