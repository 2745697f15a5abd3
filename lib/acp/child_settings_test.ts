import assert from "node:assert/strict";
import { test } from "node:test";
import { settingChanges } from "./child_settings.ts";

const reply = (settings: object, reasoning?: string) => ({
  configOptions: [
    { id: "model", currentValue: "llamacpp/any" },
    ...(reasoning === undefined ? [] : [{ id: "reasoning", currentValue: reasoning }]),
  ],
  _meta: { mm: { label: "llamacpp/any", settings } },
});

const bare = (value: string) => ({ configId: "model", value, _meta: { mm: { bare: true } } });

test("what is in use already is not set again", () => {
  assert.deepEqual(settingChanges(reply({ model: "a/b" }, "default"), { model: "a/b" }), []);
  assert.deepEqual(
    settingChanges(reply({ model: "a", reasoning: "high" }, "high"), {
      model: "a",
      reasoning: "high",
    }),
    [],
  );
  assert.deepEqual(settingChanges(reply({ model: "a" }), undefined), []);
});

test("a model is set by its name on the server, also where the agent does not know its own yet", () => {
  assert.deepEqual(settingChanges(reply({ model: "b" }), { model: "a/b" }), [bare("a/b")]);
  assert.deepEqual(settingChanges(reply({}), { model: "b" }), [bare("b")]);
});

test("an effort is set where there is a choice, the model's own where none is wanted", () => {
  const high = { configId: "reasoning", value: "high" };
  assert.deepEqual(settingChanges(reply({}, "default"), { reasoning: "high" }), [high]);
  assert.deepEqual(settingChanges(reply({}), { reasoning: "high" }), []);
  assert.deepEqual(settingChanges(reply({}, "high"), { model: "b" }), [
    bare("b"),
    { configId: "reasoning", value: "default" },
  ]);
});
