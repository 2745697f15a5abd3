import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { parseCommandLine } from "./command_line.ts";

const PAGE = new URL("../../docs/how-to/use-mm-in-an-editor.md", import.meta.url);

/** The code blocks of a language. */
async function blocks(language: string): Promise<string[]> {
  const page = await readFile(PAGE, "utf8");
  const pattern = new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, "gmu");
  return [...page.matchAll(pattern)].map(([, code = ""]) => code);
}

/** Checks that mm takes the words with which a block starts it. */
function assertStartsMm(words: readonly string[]): void {
  const [program = "", ...args] = words;
  assert.equal(program, "/usr/local/bin/mm");
  assert.equal(parseCommandLine(args).mode.kind, "acp");
}

/**
 * Checks that brackets are closed in order outside of strings and comments.
 *
 * @param skipped matches strings, comments and whatever else holds brackets that are none.
 */
function assertBalanced(code: string, skipped: RegExp): void {
  const closing: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };
  const open: string[] = [];
  for (const mark of code.replace(skipped, "").match(/[()[\]{}]/gu) ?? []) {
    const end = closing[mark];
    if (end !== undefined) open.push(end);
    else assert.equal(open.pop(), mark, code);
  }
  assert.deepEqual(open, [], code);
}

/** Lets the language's own program read the code, where this machine has it. */
function assertRead(program: string, args: readonly string[], code: string): void {
  const { error, status, stderr } = spawnSync(program, args, { input: code, encoding: "utf8" });
  if (error === undefined) assert.equal(status, 0, stderr);
}

test("the settings for Zed and JetBrains are JSON that starts mm", async () => {
  const settings = (await blocks("json")).map((code) => JSON.parse(code));
  assert.equal(settings.length, 2);
  for (const { agent_servers: { mm } } of settings) {
    assert.deepEqual(mm.env, {});
    assertStartsMm([mm.command, ...mm.args]);
  }
});

test("the settings for Neovim are Lua that starts mm", async () => {
  const [code = "", ...others] = await blocks("lua");
  assert.deepEqual(others, []);
  assertBalanced(code, /"[^"\n]*"|--[^\n]*/gu);
  // What opens a block of Lua beside brackets is closed with `end`.
  assert.equal(code.match(/\bfunction\b/gu)?.length, code.match(/\bend\b/gu)?.length);
  const words = /default = \{(.*)\}/u.exec(code)?.[1]?.match(/"[^"]*"/gu) ?? [];
  assertStartsMm(words.map((word) => JSON.parse(word)));
  assertRead("luac", ["-p", "-"], code);
});

test("the settings for Emacs are Lisp that starts mm", async () => {
  const [code = "", ...others] = await blocks("elisp");
  assert.deepEqual(others, []);
  assertBalanced(code, /"(?:[^"\\]|\\.)*"|;[^\n]*/gu);
  // Each form begins in the first column and is whole.
  const forms = code.split(/^(?=\()/mu);
  assert.equal(forms.length, 4);
  for (const form of forms) assertBalanced(form, /"(?:[^"\\]|\\.)*"|;[^\n]*/gu);
  const command = /:command ("[^"]*")/u.exec(code)?.[1] ?? "";
  const params = /:command-params '\(([^)]*)\)/u.exec(code)?.[1]?.match(/"[^"]*"/gu) ?? [];
  assertStartsMm([command, ...params].map((word) => JSON.parse(word)));
  const read = `(with-temp-buffer (insert ${JSON.stringify(code)}) (goto-char (point-min)) ` +
    "(condition-case nil (while t (read (current-buffer))) (end-of-file nil)))";
  assertRead("emacs", ["--batch", "--eval", read], "");
});
