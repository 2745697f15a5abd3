import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { defineTool } from "./define_tool.ts";
import { FileProblem } from "./file_problem.ts";
import { testProject } from "./testing.ts";
import type { Tool, ToolContext, ToolResult } from "./tool.ts";

const schema = z.object({
  path: z.string(),
  lines: z.int().min(1).optional(),
  share: z.number().max(1).optional(),
  all: z.boolean().optional(),
  note: z.string().optional(),
});

function toolOf(run: (context: ToolContext) => Promise<ToolResult>): Tool {
  return defineTool({
    name: "probe",
    kind: "other",
    description: "Probes.",
    schema,
    gated: false,
    parallel: true,
    preview: () => {
      throw new Error("no preview");
    },
    run: (_input, context) => run(context),
  }) as Tool;
}

const probe = toolOf(() => Promise.resolve({ ok: true, text: "done" }));

function errorOf(raw: unknown): string {
  const parsed = probe.parse(raw);
  assert.ok("error" in parsed, JSON.stringify(parsed));
  return parsed.error;
}

test("parse() takes right arguments as they are", () => {
  const input = { path: "a", lines: 2, share: 0.5, all: true, note: "n" };
  assert.deepEqual(probe.parse(input), { input });
});

test("parse() converts what can only mean one thing", () => {
  assert.deepEqual(probe.parse({ path: 7, lines: " 12 ", share: "0.25", all: "false" }), {
    input: { path: "7", lines: 12, share: 0.25, all: false },
  });
  assert.deepEqual(probe.parse({ path: "a", lines: null, all: null, note: "" }), {
    input: { path: "a" },
  });
  assert.deepEqual(probe.parse('{"path": "a"}'), { input: { path: "a" } });
  assert.deepEqual(probe.parse({ path: "" }), { input: { path: "" } });
});

test("parse() says what is wrong with which argument, what is expected and what came", () => {
  const names =
    "The arguments are path, lines (optional), share (optional), all (optional) and note (optional)";
  assert.equal(errorOf({}), `"path" is missing, it has to be text. ${names}`);
  assert.equal(errorOf(undefined), errorOf(null));
  assert.equal(
    errorOf({ path: null, lines: "many", share: 3, all: "yes" }),
    '"lines" has to be a whole number of at least 1, got "many"; ' +
      '"share" has to be a number of at most 1, got 3; ' +
      '"all" has to be true or false, got "yes"; ' +
      `"path" is missing, it has to be text. ${names}`,
  );
  assert.match(errorOf({ path: "a", lines: 1.5 }), /"lines" has to be a whole number/u);
  assert.match(errorOf({ path: "a", lines: 0 }), /of at least 1, got 0/u);
  assert.match(errorOf({ path: { deep: 1 } }), /"path" has to be text, got \{"deep":1\}/u);
  assert.match(errorOf({ path: ["a"] }), /"path" has to be text, got \["a"\]/u);
  assert.match(errorOf({ path: "a", share: "1e3" }), /got "1e3"/u);
});

test("parse() names the nearest argument for one that does not exist", () => {
  assert.match(errorOf({ pth: "a" }), /"pth" is not an argument; did you mean "path"\?/u);
  assert.match(errorOf({ path: "a", colour: 1 }), /^"colour" is not an argument\. The arguments/u);
  assert.match(errorOf(JSON.parse('{"path":"a","__proto__":{"all":true}}')), /"__proto__" is not/u);
  assert.match(errorOf({ path: "a", constructor: 1 }), /"constructor" is not an argument/u);
});

test("parse() says of a tool without arguments that it takes none", () => {
  const bare = defineTool({
    name: "bare",
    kind: "other",
    description: "Does it.",
    gated: false,
    parallel: true,
    schema: z.strictObject({}),
    preview: () => ({ title: "bare" }),
    run: () => Promise.resolve({ ok: true, text: "" }),
  });
  assert.deepEqual(bare.parse({ all: true }), {
    error: '"all" is not an argument. This tool takes no arguments',
  });
  assert.deepEqual(bare.parse([]), {
    error: "expected a JSON object with no arguments, got []",
  });
});

test("parse() refuses what is no object", () => {
  for (const raw of [[], 5, "text", '"text"', "[1]", true]) {
    assert.match(
      errorOf(raw),
      /^expected a JSON object with path, lines, share, all and note, got /u,
    );
  }
});

test("parameters hold what a model needs and nothing else", () => {
  assert.deepEqual(probe.parameters, {
    type: "object",
    properties: {
      path: { type: "string" },
      lines: { type: "integer", minimum: 1 },
      share: { type: "number", maximum: 1 },
      all: { type: "boolean" },
      note: { type: "string" },
    },
    required: ["path"],
  });
});

test("run() turns whatever goes wrong into a result", async (t) => {
  const p = await testProject(t);
  const said = async (thrown: unknown) =>
    await p.call(toolOf(() => Promise.reject(thrown)), { path: "a" });
  assert.deepEqual(await said(new FileProblem("Cannot do it: it is closed")), {
    ok: false,
    text: "Cannot do it: it is closed",
  });
  assert.deepEqual(await said(new TypeError("x is not a function")), {
    ok: false,
    text: "probe failed: x is not a function",
  });
  const full = Object.assign(new Error("ENOSPC: no space left"), { code: "ENOSPC" });
  assert.equal((await said(full)).text, "probe failed: no space is left on the disk");
});

test("run() throws the signal's reason whatever the tool threw", async (t) => {
  const p = await testProject(t);
  const controller = new AbortController();
  const reason = new Error("cancelled by the test");
  const tool = toolOf(() => {
    controller.abort(reason);
    return Promise.reject(new Error("something else"));
  });
  await assert.rejects(
    p.call(tool, { path: "a" }, { signal: controller.signal }),
    (error) => error === reason,
  );
});

test("run() holds every text within the limit and well formed", async (t) => {
  const p = await testProject(t);
  const long = toolOf(() => Promise.resolve({ ok: true, text: "😀".repeat(5000) + "\ud800" }));
  const { text } = await p.call(long, { path: "a" }, { maxOutput: 999 });
  assert.ok(text.length <= 999);
  assert.ok(text.isWellFormed());
  const failing = toolOf(() => Promise.reject(new FileProblem("x".repeat(5000))));
  assert.ok((await p.call(failing, { path: "a" }, { maxOutput: 999 })).text.length <= 999);
});

test("preview() never throws", async (t) => {
  const p = await testProject(t);
  assert.deepEqual(
    await probe.preview({ path: "a" }, { cwd: p.directory, files: p.context.files }),
    { title: "probe" },
  );
});
