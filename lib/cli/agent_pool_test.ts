import assert from "node:assert/strict";
import { test } from "node:test";
import { inTestDir } from "../config/testing.ts";
import { modelSecrets, secretsOf } from "./agent_pool.ts";

test("secretsOf() has the values of agents and MCP servers too, modelSecrets() the model's alone", () =>
  inTestDir(async (dir) => {
    await dir.write("bob.yaml", "provider: demo\n");
    await dir.write(
      "agent.yaml",
      `
provider: custom
baseUrl: http://127.0.0.1:9
apiKey: key-of-the-model
headers: {X-Team: team-header}
mmConfigs: {bob: {path: bob.yaml, env: {BOBS: bobs-value}}}
mcpServers:
  files: {command: files, env: {FILES_TOKEN: token-of-files}}
  web: {url: "http://127.0.0.1:9/mcp", headers: {Authorization: Bearer of-the-web}}
  plain: {command: plain}
`,
    );
    const config = await dir.load();
    assert.deepEqual(modelSecrets(config), ["key-of-the-model", "team-header"]);
    assert.deepEqual(secretsOf(config), [
      "key-of-the-model",
      "team-header",
      "bobs-value",
      "token-of-files",
      "Bearer of-the-web",
    ]);
  }));
