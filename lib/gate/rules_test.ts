import assert from "node:assert/strict";
import { test } from "node:test";
import { isSimpleCommand, parseRule, permits, restricts, type RuleSubject } from "./rules.ts";

function rule(source: string) {
  const parsed = parseRule(source);
  assert.ok(parsed, source);
  return parsed;
}

function bash(command: string, name = "bash"): RuleSubject {
  return { name, about: [{ texts: [command], shell: true }], claims: [] };
}

function read(...paths: string[][]): RuleSubject {
  return { name: "read", about: paths.map((texts) => ({ texts, shell: false })), claims: [] };
}

test("parseRule() understands a tool, a pattern and an asked agent's tool", () => {
  assert.deepEqual(parseRule("bash"), { source: "bash", name: "bash", pattern: undefined });
  assert.deepEqual(parseRule(" bob/bash(git *) "), {
    source: " bob/bash(git *) ",
    name: "bob/bash",
    pattern: "git *",
  });
  for (const bad of ["", "  ", "(x)", "bash(", "bash)x", "two words"]) {
    assert.equal(parseRule(bad), undefined, bad);
  }
});

test("permits() takes a trailing space and star as optional arguments", () => {
  const status = rule("bash(git status *)");
  assert.ok(permits(status, bash("git status")));
  assert.ok(permits(status, bash("git status -s")));
  assert.ok(!permits(status, bash("git statusx")));
  assert.ok(!permits(status, bash("git push")));
});

test("permits() never covers a chained, substituted or redirected command", () => {
  const status = rule("bash(git status *)");
  for (
    const command of [
      "git status && rm -rf x",
      "git status; rm x",
      "git status $(touch y)",
      "git status `touch y`",
      "git status <(touch y)",
      "git status > x",
      "git status\nrm x",
      "git status\rrm x",
      "git status | sh",
      "git status & rm x",
      "git status ${x:-`id`}",
      "git status $'\\n'",
    ]
  ) {
    assert.ok(!isSimpleCommand(command), command);
    assert.ok(!permits(status, bash(command)), command);
  }
});

test("permits() covers a chained command that is the pattern word for word", () => {
  assert.ok(permits(rule("bash(npm ci && npm test)"), bash("npm ci && npm test")));
  assert.ok(!permits(rule("bash(npm ci && npm *)"), bash("npm ci && npm test")));
});

test("permits() keeps an agent's own tools and an asked agent's tools apart", () => {
  assert.ok(permits(rule("bash"), bash("ls")));
  assert.ok(!permits(rule("bash"), bash("ls", "bob/bash")));
  assert.ok(!permits(rule("*"), bash("ls", "bob/bash")));
  assert.ok(permits(rule("bob/*"), bash("ls", "bob/bash")));
  assert.ok(!permits(rule("bob/*"), bash("ls", "bob/riker/bash")));
});

test("restricts() looks into the parts of a chained command", () => {
  const rm = rule("bash(rm *)");
  for (
    const command of [
      "rm -rf x",
      "true; rm x",
      "true && X=1 rm x",
      "echo $(rm x)",
      "a | rm",
      "(rm x)",
    ]
  ) {
    assert.ok(restricts(rm, bash(command)), command);
  }
  assert.ok(!restricts(rm, bash("git status")));
});

test("a pattern's characters other than the star stand for themselves", () => {
  const dots = rule("read(a.b+c)");
  assert.ok(permits(dots, read(["a.b+c"])));
  assert.ok(!permits(dots, read(["axbbc"])));
});

test("permits() has to cover everything a call is about, restricts() any of it", () => {
  const both = read(["/p/src/a", "src/a"], ["/etc/passwd"]);
  assert.ok(permits(rule("read(src/*)"), read(["/p/src/a", "src/a"], ["/p/src/b", "src/b"])));
  assert.ok(!permits(rule("read(src/*)"), both));
  assert.ok(!permits(rule("read(src/*)"), read()));
  assert.ok(restricts(rule("read(/etc/*)"), both));
});

test("restricts() reads past blanks, quotation marks, line continuations and words before a command", () => {
  const rm = rule("bash(rm *)");
  for (
    const command of [
      "rm\t-rf x",
      "rm  -rf x",
      "r\\\nm -rf x",
      "\\rm -rf x",
      "'rm' -rf x",
      'r"m" -rf x',
      "if true; then rm x; fi",
      "! rm x",
      "env A=1 command rm x",
    ]
  ) {
    assert.ok(restricts(rm, bash(command)), command);
  }
});

test("restricts() takes the name of an agent in any case and form, permits() only as it is", () => {
  const named = (name: string): RuleSubject => ({
    name: "agent",
    about: [{ texts: [name], shell: false, agent: true }],
    claims: [],
  });
  for (const name of ["Über", "ÜBER", "u\u0308ber", " über\t"]) {
    assert.ok(restricts(rule("agent(Über)"), named(name)), name);
    assert.ok(restricts(rule("agent(üb*)"), named(name)), name);
    assert.equal(permits(rule("agent(Über)"), named(name)), name === "Über", name);
  }
  assert.ok(!restricts(rule("agent(Über)"), named("ueber")));
  assert.ok(!restricts(rule("read(Über)"), read(["über"])));
});

test("restricts() takes a tool's name in any case, permits() only as it is", () => {
  assert.ok(restricts(rule("bob/bash"), bash("ls", "bob/Bash")));
  assert.ok(!permits(rule("bob/bash"), bash("ls", "bob/Bash")));
  assert.ok(restricts(rule("bob/*"), bash("ls", "bob/.bash")));
});
