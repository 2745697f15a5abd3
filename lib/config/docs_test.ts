import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { test } from "node:test";
import { jsonSchemaText } from "./json_schema.ts";
import { readOverrides } from "./overrides.ts";
import { AGENT_FILE_KEYS } from "./schema.ts";
import { inTestDir, usageMessage } from "./testing.ts";
import { UNSUPPORTED_KEYS } from "./unsupported_keys.ts";

const reference = new URL("../../docs/reference/", import.meta.url);

/** The examples of a page that show a configuration. */
function examplesIn(text: string): string[] {
  return [...text.matchAll(/^```yaml\n(.*?)^```$/gmsu)].map((match) => match[1] ?? "");
}

const page = await readFile(
  new URL("../../docs/reference/configuration.md", import.meta.url),
  "utf8",
);
const examples = examplesIn(page);

test("every example of the reference loads", async () => {
  assert.ok(examples.length >= AGENT_FILE_KEYS.length);
  await inTestDir(async (dir) => {
    await dir.write("prompt.md", "Answer briefly.\n");
    const env = {
      HOME: dir.path,
      WORK_API_KEY: "a",
      TEAM_MISTRAL_KEY: "b",
      PROXY_TOKEN: "c",
    };
    for (const example of examples) {
      await dir.write("agent.yaml", example);
      await dir.load({ env });
    }
  });
});

test("the examples of the other pages of the reference load as they stand", async () => {
  await inTestDir(async (dir) => {
    for (const name of await readdir(reference)) {
      if (name === "configuration.md") continue;
      for (const example of examplesIn(await readFile(new URL(name, reference), "utf8"))) {
        const named = [...example.matchAll(/\$\{(\w+)\}/gu)].map(([, variable]) => [variable, "x"]);
        const env = { ...Object.fromEntries(named), HOME: dir.path };
        await dir.write("agent.yaml", example);
        await dir.load({ env }).catch((error) => assert.fail(`${name}: ${error.message}`));
      }
    }
  });
});

test("the reference has a section with an example for every key", () => {
  for (const key of AGENT_FILE_KEYS) {
    const section = page.split(`\n### \`${key}\`\n`)[1]?.split("\n### ")[0];
    assert.ok(section !== undefined, `no section for ${key}`);
    assert.match(section, new RegExp(`\`\`\`yaml\\n(?:.*\\n)*?${key}:`, "u"));
  }
});

test("the reference names every variable that overrides a key, and no other", () => {
  const table = page.split("## What overrides the file")[1]?.split("\n- ")[0] ?? "";
  const named = [...table.matchAll(/AGENT_[A-Z_]+/gu)].map(([name]) => name);
  // A variable that is known is never warned about, and an unknown one is not read.
  for (const name of named) {
    const { problems, names, warnings } = readOverrides({ env: { [name]: "1" } });
    assert.ok(problems.length > 0 || Object.values(names).includes(name), name);
    assert.deepEqual(warnings, []);
  }
  assert.equal(new Set(named).size, 16);
});

test("the reference names every key that this version does not support", () => {
  const section = page.split("## Keys of later versions")[1] ?? "";
  for (const key of UNSUPPORTED_KEYS) assert.ok(section.includes(`\`${key}\``), key);
});

test("the errors of the reference are the ones that mm prints", async () => {
  const [several, variable] = [...page.matchAll(/^```text\n(.*?)\n```$/gmsu)].map((m) =>
    m[1] ?? ""
  );
  await inTestDir(async (dir) => {
    const message = await dir.messageFor(
      "provider: ollama\nmodl: x\ntemperature: 3\nmmConfigs:\n  bob:\n    pth: bob.yaml\n",
    );
    assert.equal(
      message.replaceAll(dir.path, "/home/ada/project"),
      several,
    );
    await dir.write("agent.yaml", "");
    assert.equal(
      await usageMessage(() => dir.load({ env: { AGENT_BASH_TIMEOUT: "soon" } })),
      variable,
    );
  });
});

test("the JSON Schema in the repository is the one of the code", async () => {
  const file = new URL("../../agent.schema.json", import.meta.url);
  assert.equal(await readFile(file, "utf8"), jsonSchemaText());
});

test("the JSON Schema describes every key and gives defaults as they are written", () => {
  const schema = JSON.parse(jsonSchemaText());
  assert.deepEqual(Object.keys(schema.properties), AGENT_FILE_KEYS);
  assert.equal(schema.additionalProperties, false);
  const describe = (properties: Record<string, Record<string, unknown>>, path: string) => {
    for (const [key, value] of Object.entries(properties)) {
      assert.equal(typeof value["description"], "string", `${path}${key}`);
    }
  };
  describe(schema.properties, "");
  describe(schema.properties.mmConfigs.additionalProperties.properties, "mmConfigs.*.");
  assert.equal(schema.properties.bashTimeout.default, "30s");
  assert.equal(schema.properties.bashTimeoutMax.default, "10m");
  assert.equal(schema.properties.watchdogTimeout.default, "5m");
  assert.equal(schema.properties.maxOutput.default, 20_000);
  assert.equal(schema.properties.yolo.default, false);
  assert.deepEqual(
    schema.properties.bashTimeout.anyOf.map((kind: { type: string }) => kind.type),
    ["string", "number"],
  );
});
