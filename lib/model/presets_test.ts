import { test } from "node:test";
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { PRESETS } from "./presets.ts";

test("the reference lists every provider with the address, key and model that are used", async () => {
  const page = await readFile(
    new URL("../../docs/reference/providers.md", import.meta.url),
    "utf8",
  );
  const rows = page.split("\n").map((line) => line.split("|").map((cell) => cell.trim()));
  for (const preset of Object.values(PRESETS)) {
    const row = rows.find((cells) => cells[1] === `\`${preset.name}\``) ?? [];
    const { baseUrl, keyVariable, defaultModel, needsKey } = preset;
    if (baseUrl !== undefined) assert.equal(row[2], `\`${baseUrl}\``);
    if (keyVariable !== undefined) {
      assert.equal(row[3], `\`${keyVariable}\`${needsKey ? "" : ", optional"}`);
    }
    if (defaultModel !== undefined) assert.equal(row[4], `\`${defaultModel}\``);
    assert.equal(row[5] === "not asked", preset.probe === "none", preset.name);
  }
});

test("every provider that runs elsewhere is reached over HTTPS and has a model to begin with", () => {
  for (const preset of Object.values(PRESETS)) {
    if (preset.local || preset.name === "custom") continue;
    assert(preset.baseUrl?.startsWith("https://"), preset.name);
    assert(preset.defaultModel !== undefined && preset.keyVariable !== undefined, preset.name);
  }
});
