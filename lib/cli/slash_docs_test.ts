import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { commandsOf } from "../session/slash.ts";

test("the reference documentation lists exactly the slash commands", () => {
  const page = readFileSync(
    new URL("../../docs/reference/slash-commands.md", import.meta.url),
    "utf8",
  );
  const listed = [...page.matchAll(/^\| `\/([^\s`]+)/gmu)].map((match) => match[1]);
  const commands = commandsOf([{ name: "<agent>", path: "/bob.yaml" }]).map(({ name }) => name);
  assert.deepEqual(listed, commands);
});
