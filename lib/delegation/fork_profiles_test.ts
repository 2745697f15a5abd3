import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { forkProfilesText, listForkProfiles } from "./fork_profiles.ts";
import { inDefinitionDirs } from "./testing.ts";

const PROFILES = "home/project/.mm/fork-profiles";

test("a project without profiles has none, and no faults", async () => {
  await inDefinitionDirs(async ({ places }) => {
    assert.equal(forkProfilesText(await listForkProfiles(places.cwd)), "");
  });
});

test("the profiles are listed with tools and advice, and the files that are none with the reason", async () => {
  await inDefinitionDirs(async ({ path, places, write }) => {
    const ro = await write(
      `${PROFILES}/ro.md`,
      "---\nname: ro\ntools: [read, Grep]\npromptHint: Cite files.\n---\n",
    );
    const no = await write(
      "home/project/.qwen/fork-profiles/no.md",
      "---\nname: no\ntools: []\n---\n",
    );
    const broken = await write(`${PROFILES}/broken.md`, "---\nname: other\ntools: []\n---\n");
    const misnamed = await write(`${PROFILES}/-x.md`, "x");
    const second = await write("home/project/.qwen/fork-profiles/ro.md", "x");
    await write(`${PROFILES}/notes.txt`, "x");
    assert.ok(second.startsWith(join(path, "home")));
    assert.deepEqual(forkProfilesText(await listForkProfiles(places.cwd)).split("\n"), [
      "no",
      `  ${no}; tools: none`,
      "ro - Cite files.",
      `  ${ro}; tools: read, grep`,
      `The fork profile "${misnamed}" cannot be used: its name must have 2 to 50 letters, digits, "-" and "_"`,
      `The fork profile "${broken}" cannot be used: it has to say "name: broken", as its file is called`,
      `The fork profile "${second}" is not used: one of .mm/fork-profiles has its name`,
    ]);
  });
});
