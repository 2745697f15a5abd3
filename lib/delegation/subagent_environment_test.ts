import assert from "node:assert/strict";
import { test } from "node:test";
import { VERSION } from "../base/version.ts";
import { subagentEnvironment } from "./subagent_environment.ts";

const options = { env: {}, depth: 0, stateDir: undefined };

test("a subagent is as the agent that starts it is, in its variables too", () => {
  const env = {
    PATH: "/bin",
    AGENT_MODEL: "m",
    OPENAI_API_KEY: "k",
    MM_STATE_DIR: "/state",
    UNSET: undefined,
  };
  assert.deepEqual(subagentEnvironment({ ...options, env }), {
    PATH: "/bin",
    AGENT_MODEL: "m",
    OPENAI_API_KEY: "k",
    MM_STATE_DIR: "/state",
    AGENT_YOLO: "false",
    AGENT_SESSIONS: "off",
    MM_ASK_DEPTH: "1",
  });
});

test("who starts a subagent decides about its calls, its depth and what it saves, and no variable", () => {
  const env = {
    AGENT_YOLO: "true",
    AGENT_SESSIONS: "on",
    MM_ASK_DEPTH: "0",
    MM_SUBAGENT_STATE: "/elsewhere",
    MM_CONFIG_DIGEST: "forged",
    MM_DEFINITION: "forged",
  };
  const own = { AGENT_YOLO: "false", AGENT_SESSIONS: "off", MM_ASK_DEPTH: "2" };
  assert.deepEqual(subagentEnvironment({ ...options, env, depth: 1 }), own);
  assert.deepEqual(subagentEnvironment({ env, depth: 1, stateDir: "/state/subagents" }), {
    ...own,
    MM_SUBAGENT_STATE: "/state/subagents",
  });
  const expected = { configDigest: "d1", version: "v1" };
  assert.deepEqual(subagentEnvironment({ ...options, ...expected, env, depth: 1 }), {
    ...own,
    MM_CONFIG_DIGEST: "d1",
    MM_DEFINITION: `${VERSION} v1`,
  });
});

test("what was meant for the commands of one conversation is not passed on", () => {
  const env = { MM_BIN: "/mm", MM_CONFIG: "/agent.yaml", MM_TRANSCRIPT: "/tmp/t" };
  const names = Object.keys(subagentEnvironment({ ...options, env }));
  assert.deepEqual(names.filter((name) => name in env), []);
});
