import assert from "node:assert/strict";
import { test } from "node:test";
import { type JsonSchema, outputSchema } from "./output_schema.ts";
import { inTestDir } from "./testing.ts";

async function faults(schema: JsonSchema, value: unknown): Promise<string[]> {
  return (await outputSchema(schema)).faultsOf(value);
}

test("the keywords that matter are enforced, also where no type stands beside them", async () => {
  const wrong: [JsonSchema, unknown][] = [
    [{ required: ["a"] }, {}],
    [{ type: "object", properties: { a: {} }, required: ["a", "b"] }, { a: 1 }],
    [{ minLength: 2 }, "x"],
    [{ if: { properties: { a: { const: 1 } } }, then: { required: ["b"] } }, { a: 1 }],
    [{ not: { type: "string" } }, "x"],
    [{ dependentRequired: { a: ["b"] } }, { a: 1 }],
    [{ $ref: "#/definitions/x", definitions: { x: { type: "string" } } }, 1],
    [{ const: { a: [1] } }, { a: [2] }],
    [{ unevaluatedProperties: false, properties: { a: {} } }, { b: 1 }],
    [{ type: "string", pattern: "^[A-Z]+$" }, "abc"],
    [{ prefixItems: [{ type: "string" }], items: false }, ["a", 1]],
    [{ oneOf: [{ type: "number" }, { type: "integer" }] }, 1],
    [{ $schema: "http://json-schema.org/draft-07/schema#", items: [{ type: "string" }] }, [1]],
    [{ $schema: "https://json-schema.org/draft/2019-09/schema", type: "array" }, 1],
  ];
  for (const [schema, value] of wrong) {
    assert.notDeepEqual(await faults(schema, value), [], JSON.stringify(schema));
  }
  const right: [JsonSchema, unknown][] = [
    [{ const: { a: [1] } }, { a: [1] }],
    [{ multipleOf: 0.01 }, 19.99],
    [{ type: "integer" }, 1e300],
    [{ type: "string", format: "email" }, "a note, not a rule"],
    [{ type: ["string", "null"], nullable: true, "x-order": 1, example: "e" }, null],
    [{ properties: { a: { type: "string" } } }, 5],
  ];
  for (const [schema, value] of right) {
    assert.deepEqual(await faults(schema, value), [], JSON.stringify(schema));
  }
});

test("a fault says where, what, and what is allowed", async () => {
  const schema = {
    type: "object",
    properties: {
      color: { enum: ["red", "green"] },
      items: { type: "array", items: { type: "integer" } },
    },
    required: ["name"],
    additionalProperties: false,
  };
  assert.deepEqual(await faults(schema, { color: "blue", items: [1, "x"], more: 1 }), [
    "the value must have required property 'name'",
    'the value must NOT have additional properties: "more"',
    '/color must be equal to one of the allowed values: ["red","green"]',
    "/items/1 must be integer",
  ]);
  const many = await faults({ items: { type: "string" } }, Array.from({ length: 50 }, () => 1));
  assert.equal(many.length, 11);
  assert.equal(many.at(-1), "and 40 more");
});

test("a schema that is none is refused when the configuration is loaded, with place and reason", async () => {
  const wrong: [string, RegExp][] = [
    [
      "{type: stirng}",
      /agent\.yaml:1:28: "structuredOutput.schema" is no valid JSON Schema: \/type must be/,
    ],
    ["{proprties: {a: {}}}", /the keyword "proprties" is unknown; did you mean "properties"\?/],
    ["{properties: {a: {requird: [b]}}}", /"requird" is unknown; did you mean "required"\?/],
    ['{$ref: "#/nope"}', /can't resolve reference #\/nope/],
    ['{type: string, pattern: "("}', /Invalid regular expression/],
    [
      '{$schema: "http://json-schema.org/draft-04/schema#"}',
      /draft-07, 2019-09 and 2020-12 are known/,
    ],
    ["[1]", /must be a map: a JSON Schema/],
    ["text", /must be a map: a JSON Schema/],
  ];
  await inTestDir(async (dir) => {
    for (const [schema, words] of wrong) {
      assert.match(await dir.messageFor(`structuredOutput: {schema: ${schema}}\n`), words);
    }
    assert.match(
      await dir.messageFor("structuredOutput: {}\n"),
      /has neither schema nor file/,
    );
    assert.match(
      await dir.messageFor("structuredOutput: {schema: {}, file: a.json}\n"),
      /has both schema and file/,
    );
    assert.match(
      await dir.messageFor("structuredOutput: {schem: {}}\n"),
      /unknown key "structuredOutput.schem"; did you mean "schema"\?/,
    );
    assert.match(
      await dir.messageFor("structuredOutput: {schema: &a {properties: {b: *a}}}\n"),
      /"structuredOutput.schema.properties.b" refers to a value that contains it/,
    );
  });
});

test("a schema in a file is read beside the configuration, and its faults name it", async () => {
  await inTestDir(async (dir) => {
    const file = await dir.write("schemas/answer.json", '\ufeff{"type": "object"}\r\n');
    await dir.write("agent.yaml", "structuredOutput: {file: schemas/answer.json}\n");
    const cwd = dir.path;
    assert.deepEqual((await dir.load({ cwd })).structuredOutput, { schema: { type: "object" } });
    const wrong: [string | Uint8Array, RegExp][] = [
      ["{", /answer\.json" is not valid JSON: /],
      ["[]", /answer\.json" holds no JSON Schema: it must be an object/],
      ['{"type": 1}', /answer\.json" is no valid JSON Schema: \/type/],
      [new Uint8Array([0xff, 0xfe, 0x41]), /UTF-16/],
      ["x".repeat(300_000), /at most 262144 are read/],
    ];
    for (const [text, words] of wrong) {
      await dir.write("schemas/answer.json", text);
      const message = await dir.messageFor("structuredOutput: {file: schemas/answer.json}\n");
      assert.match(message, words);
      assert.ok(message.includes(file));
    }
    assert.match(
      await dir.messageFor("structuredOutput: {file: none.json}\n"),
      /none\.json" does not exist/,
    );
  });
});
