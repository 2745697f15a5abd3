import { strict as assert } from "node:assert";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { completionScript } from "./completions.ts";
import { FLAGS, SHELLS } from "./flags.ts";

test("completionScript() names every flag for every shell", () => {
  for (const shell of SHELLS) {
    const script = completionScript(shell);
    for (const flag of FLAGS) {
      assert.match(script, new RegExp(`[-\\s]${flag.name}\\b`, "u"), `${shell} ${flag.name}`);
    }
  }
});

for (const shell of SHELLS) {
  test(`completionScript() is valid ${shell}`, (context) => {
    const found = spawnSync(shell, [shell === "fish" ? "--no-execute" : "-n"], {
      input: completionScript(shell),
      encoding: "utf8",
    });
    if (found.error !== undefined && shell !== "bash") return context.skip(`no ${shell} here`);
    assert.equal(found.status, 0, found.stderr);
    assert.equal(found.stderr, "");
  });
}

test("completionScript() completes flags, shells and both spellings in bash", () => {
  const complete = (...words: string[]) => {
    const script = completionScript("bash") +
      `COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}
_mm; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, status } = spawnSync("bash", ["-c", script], { encoding: "utf8" });
    assert.equal(status, 0);
    return stdout.trim().split("\n");
  };
  assert.deepEqual(complete("mm", "-lin"), ["-line"]);
  assert.deepEqual(complete("mm", "--li"), ["--line", "--listen"]);
  assert.deepEqual(complete("mm", "-completions", ""), ["bash", "zsh", "fish"]);
  assert.deepEqual(complete("mm", "--ask"), ["--ask", "--ask-with-context"]);
});
