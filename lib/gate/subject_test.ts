import assert from "node:assert/strict";
import { mkdir, mkdtemp, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { ToolCallView } from "../base/tool_call.ts";
import { parseRule, permits, restricts } from "./rules.ts";
import { subjectOf } from "./subject.ts";

async function rulesIn(cwd: string, view: Omit<ToolCallView, "id">) {
  const subject = await subjectOf({ id: "1", ...view }, cwd);
  const rule = (source: string) => {
    const parsed = parseRule(source);
    assert.ok(parsed, source);
    return parsed;
  };
  return {
    permits: (source: string) => permits(rule(source), subject),
    restricts: (source: string) => restricts(rule(source), subject),
  };
}

async function inProject(run: (cwd: string) => Promise<void>): Promise<void> {
  const cwd = await realpath(await mkdtemp(join(tmpdir(), "mm-subject-")));
  try {
    await mkdir(join(cwd, "src"));
    await symlink("/etc", join(cwd, "src", "link"));
    await run(cwd);
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

test("an asked agent's command is one, whatever kind its call claims to be", async () => {
  await inProject(async (cwd) => {
    const input = { command: "git log -1; rm -rf x" };
    for (const kind of ["other", "read", "execute"] as const) {
      const locations = [{ path: join(cwd, "git log -1") }];
      const view = { name: "bob/bash", title: "git log -1", kind, input, locations };
      const rules = await rulesIn(cwd, view);
      assert.ok(!rules.permits("bob/bash(git log *)"), kind);
      assert.ok(rules.restricts("bob/bash(rm *)"), kind);
    }
    const listed = { name: "bob/shell", title: "work", kind: "other" } as const;
    const words = await rulesIn(cwd, { ...listed, input: { command: ["rm", "-rf", "x"] } });
    assert.ok(words.restricts("bob/shell(rm *)"));
    const title = await rulesIn(cwd, { ...listed, title: "git log; rm -rf x", input: {} });
    assert.ok(!title.permits("bob/shell(git *)"));
  });
});

test("a rule that permits an asked agent's edits has to cover every file they name", async () => {
  await inProject(async (cwd) => {
    const edit = { name: "bob/edit", title: "Edit", kind: "edit" } as const;
    const inside = { path: join(cwd, "src", "a") };
    const outside = "/etc/passwd";
    const diffs = [{ path: outside, oldText: "a", newText: "b" }];
    for (
      const view of [
        { ...edit, input: {}, locations: [inside, { path: outside }] },
        { ...edit, input: {}, locations: [inside], diffs },
        { ...edit, input: { path: "src/../../../../etc/passwd" } },
        { ...edit, input: { file_path: outside }, locations: [inside] },
        { ...edit, input: {}, locations: [{ path: join(cwd, "src", "link", "passwd") }] },
      ]
    ) {
      const rules = await rulesIn(cwd, view);
      assert.ok(!rules.permits("bob/edit(src/**)"), JSON.stringify(view));
    }
    const fine = await rulesIn(cwd, {
      ...edit,
      input: { path: "src/../src/a" },
      locations: [inside],
    });
    assert.ok(fine.permits("bob/edit(src/**)"));
  });
});

test("a search is about the directory it really searches", async () => {
  await inProject(async (cwd) => {
    const locations = [{ path: join(cwd, "src", "link", "ssh") }];
    const input = { pattern: "x", path: "./src/link/ssh" };
    const rules = await rulesIn(cwd, {
      name: "grep",
      title: "x",
      kind: "search",
      input,
      locations,
    });
    assert.ok(rules.restricts("grep(/etc/*)"));
    assert.ok(!rules.permits("grep(src/*)"));
  });
});

test("a path among the arguments of any tool is compared as it really is", async () => {
  await inProject(async (cwd) => {
    const view = { name: "mcp__fs__put", title: "put", kind: "other" } as const;
    const rules = await rulesIn(cwd, { ...view, input: { path: "src/../../etc/x" } });
    assert.ok(!rules.permits("mcp__fs__put(src/**)"));
    const fine = await rulesIn(cwd, { ...view, input: { path: "./src/x" } });
    assert.ok(fine.permits("mcp__fs__put(src/**)"));
  });
});

test("a rule about the tool agent can name who works", async () => {
  await inProject(async (cwd) => {
    const input = { description: "Look", prompt: "Look around", subagent_type: "explore" };
    const view = { name: "agent", title: "explore: Look", kind: "other", input } as const;
    const rules = await rulesIn(cwd, view);
    assert.ok(rules.permits("agent(explore)"));
    assert.ok(!rules.permits("agent(general-purpose)"));
    assert.ok(rules.restricts("agent(exp*)"));
  });
});

test("a file of the project whose name begins with two dots is known by its relative path", async () => {
  await inProject(async (cwd) => {
    const input = { path: join(cwd, "..env") };
    const rules = await rulesIn(cwd, { name: "write", title: "..env", kind: "edit", input });
    assert.ok(rules.restricts("write(..env)"));
    const outside = { path: join(cwd, "..", "env") };
    const others = await rulesIn(cwd, {
      name: "write",
      title: "env",
      kind: "edit",
      input: outside,
    });
    assert.ok(!others.restricts("write(../env)"));
  });
});
