import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { writeAgents } from "./support/agents.ts";
import { fakeAgent } from "./support/fake_agent.ts";
import { always } from "./support/model_server.ts";
import { oneAgent } from "./support/one_agent.ts";
import { runMm } from "./support/mm.ts";
import { withProject } from "./support/project.ts";

test("-version prints one line: mm, its version and its runtime", () =>
  withProject(async (p) => {
    for (const flag of ["-version", "--version"]) {
      const { code, stdout, stderr } = await p.runMm([flag]);
      assert.equal(code, 0);
      assert.match(stdout, /^mm \d+\.\d+\.\d+\S* \((deno|node|bun) \d+\.\d+\.\d+[^)\n]*\)\n$/);
      assert.equal(stderr, "");
    }
  }));

test("-help lists every flag and every exit status, wherever it stands", () =>
  withProject(async (p) => {
    const { code, stdout, stderr } = await p.runMm(["-help"]);
    assert.equal(code, 0);
    assert.equal(stderr, "");
    for (
      const word of [
        ..."-line -p --ask --ask-with-context -acp -check -init -demo -version -help".split(" "),
        ..."-completions -config -cwd -model -yolo -json -verbose".split(" "),
      ]
    ) {
      assert.match(stdout, new RegExp(`^ +${word}\\b`, "m"), word);
    }
    for (const status of [0, 1, 2, 3, 4, 124, 130]) {
      assert.match(stdout, new RegExp(`^ +${status} `, "m"));
    }
    for (const args of [["--help"], ["-h"], ["-line", "-help"], ["-config", "-help"]]) {
      assert.equal((await p.runMm(args)).stdout, stdout, `${args}`);
    }
  }));

test("neither -version nor -help reads a configuration", () =>
  withProject(async (p) => {
    await p.write("agent.yaml", "nonsense: 1\n");
    assert.equal((await p.runMm(["-version"])).code, 0);
    assert.equal((await p.runMm(["-help"])).code, 0);
  }));

for (
  const [args, words] of [
    [["-yol"], /Unknown flag "-yol"; did you mean "-yolo"\?/],
    [["--aks", "bob", "Hi"], /Unknown flag "--aks"; did you mean "--ask"\?/],
    [["-zzz"], /Unknown flag "-zzz"; mm -help lists the flags/],
    [["stray"], /Unexpected argument "stray"; a prompt is given with -p/],
    [["-line", "stray"], /Unexpected argument "stray" for -line/],
    [["-line", "-acp"], /Cannot use -line and -acp together/],
    [["-line", "-line"], /-line is given twice/],
    [["-acp=1"], /-acp takes no value, but "1" is given/],
    [["-config"], /-config needs a value: -config <file>/],
    [["-config", "-line"], /-config needs a value/],
    [["-line", "-config="], /The <file> of -config is empty/],
    [["-json", "-line"], /-json goes with --ask/],
    [["-version", "-yolo"], /-yolo has no meaning with -version/],
    [["-init", "-model", "x"], /-model has no meaning with -init/],
    [["-completions", "csh"], /Unknown shell "csh".*bash, zsh, fish/],
    [["-completions"], /-completions needs a value: -completions <shell>/],
    [["--ask"], /--ask needs a value: --ask <agent>/],
    [["--ask", "bob", ""], /The question for --ask is empty/],
    [["--ask", "bob", "two", "words"], /"words" after the question; put the question in quotes/],
    [["-line", "-resume", "-continue"], /-resume and -continue together/],
    [["-agent", "x"], /-agent goes with -acp only/],
    [["-acp", "-agent", "nobody"], /There is no subagent "nobody"; the names are explore, /],
  ] as const
) {
  test(`mm ${args.join(" ")} is a usage error: one line on stderr, status 2`, () =>
    withProject(async (p) => {
      const { code, stdout, stderr } = await p.runMm(args);
      assert.equal(code, 2);
      assert.equal(stdout, "");
      assert.match(stderr, /^mm: [^\n]+\n$/);
      assert.match(stderr, words);
    }));
}

for (const shell of ["bash", "zsh", "fish"]) {
  test(`-completions ${shell} prints a script that the shell accepts and that names the flags`, () =>
    withProject(async (p) => {
      const { code, stdout, stderr } = await p.runMm(["-completions", shell]);
      assert.equal(code, 0);
      assert.equal(stderr, "");
      for (const flag of ["ask-with-context", "completions", "verbose"]) {
        assert.ok(stdout.includes(flag), flag);
      }
      const file = await p.write("script", stdout);
      const options = { cwd: p.dir, env: p.env, program: ["env"] as const };
      const checked = await runMm([shell, "-n", file], options);
      // 127: this machine has no such shell.
      if (checked.code !== 127) assert.equal(checked.code, 0, checked.stderr);
      else assert.match(checked.stderr, /No such file/);
    }));
}

test("the completions of bash complete flags and the names of shells", () =>
  withProject(async (p) => {
    const { stdout: script } = await p.runMm(["-completions", "bash"]);
    const file = await p.write("mm.bash", script);
    const complete = async (...words: string[]) => {
      const line = words.map((word) => `'${word}'`).join(" ");
      const command = `. '${file}'; spec=$(complete -p mm); fn=\${spec##*-F }; fn=\${fn%% *}; ` +
        `COMP_WORDS=(mm ${line}); COMP_CWORD=${words.length}; ` +
        `$fn mm '${words.at(-1) ?? ""}' '${
          words.at(-2) ?? "mm"
        }'; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const run = await runMm(["-c", command], { cwd: p.dir, env: p.env, program: ["bash"] });
      assert.equal(run.code, 0, run.stderr);
      return run.stdout.split("\n").map((word) => word.trim()).filter((word) => word !== "");
    };
    assert.deepEqual((await complete("-ver")).sort(), ["-verbose", "-version"]);
    assert.deepEqual((await complete("-completions", "")).sort(), ["bash", "fish", "zsh"]);
    assert.ok((await complete("--as")).includes("--ask"));
  }));

test("-check says what works, asks the model and starts every agent once", () =>
  withProject(async (p) => {
    const server = await p.model({ reply: always({ text: "ready" }), window: 8192, slots: 2 });
    await writeAgents(p, { server });
    const { code, stdout, stderr } = await p.runMm(["-check"]);
    assert.equal(code, 0, stdout + stderr);
    const lines = stdout.trimEnd().split("\n");
    assert.equal(lines.length, 10, stdout);
    assert.match(lines[0] ?? "", /^OK +configuration +\/.*agent\.yaml$/);
    assert.match(
      lines[1] ?? "",
      /^OK +model +llamacpp\/you at http.*window 8192 tokens, 2 at once/,
    );
    assert.match(lines[2] ?? "", /^-- +tool calls +the server takes tools, but the model did not/);
    assert.match(lines[3] ?? "", /^-- +streaming +the answer came in one piece/);
    assert.match(lines[4] ?? "", /^-- +reasoning +none seen/);
    assert.match(lines[5] ?? "", /^-- +prompt cache +not reported by the server/);
    assert.match(lines[6] ?? "", /^OK +agent bob +.*ready in .*, answered in /);
    assert.match(lines[7] ?? "", /^ +knows all about bob$/);
    assert.match(lines[8] ?? "", /^ +gated calls ask$/);
    assert.match(lines[9] ?? "", /^OK +subagents +2 definitions: explore, general-purpose$/);
    assert.deepEqual(server.requests.map((r) => r.model).sort(), ["bob", "you", "you"]);
  }));

test("-check ends with 1 and says for each part what does not work", () =>
  withProject(async (p) => {
    const server = await p.model({ reply: always({ status: 401, body: { error: "no key" } }) });
    await writeAgents(p, {
      server,
      entries: {
        eve: { path: "eve.yaml" },
        ghost: { path: "ghost.yaml" },
        sleepy: { command: ["false"] },
        none: { command: ["no-such-program-here"] },
      },
    });
    await p.write("eve.yaml", "provider: llamacpp\nmodle: x\n");
    const { code, stdout } = await p.runMm(["-check"]);
    assert.equal(code, 1);
    assert.match(stdout, /^OK +configuration/m);
    assert.match(stdout, /^FAIL +model +.*HTTP 401: no key/m);
    assert.match(stdout, /^FAIL +agent bob +bob failed: .*HTTP 401: no key/m);
    assert.match(stdout, /^FAIL +agent eve +.*eve\.yaml:2:1: unknown key "modle"/m);
    assert.match(stdout, /^FAIL +agent ghost +.*ghost\.yaml/m);
    assert.match(stdout, /^FAIL +agent sleepy +.*status 1/m);
    assert.match(stdout, /^FAIL +agent none +.*no-such-program-here/m);
  }));

test("-check says of an agent what it waits for, and of another vendor's only that it starts", () =>
  withProject(async (p) => {
    const server = await p.model({ reply: always({ text: "ready" }) });
    const away = await p.model({ reply: [] });
    const { url: baseUrl } = away;
    await away.close();
    await writeAgents(p, {
      server,
      bob: { baseUrl },
      entries: { other: { command: fakeAgent({ behaviour: "stop_reason", text: "refusal" }) } },
    });
    const { code, stdout } = await p.runMm(["-check"]);
    assert.equal(code, 1);
    assert.match(stdout, /^FAIL +agent bob +bob gave no answer within .*connection refused/m);
    assert.match(stdout, /^OK +agent other +Fake agent, ready in [^,]*$/m);
  }));

test("-check with a wrong configuration says the place and tries nothing else", () =>
  withProject(async (p) => {
    await p.write("agent.yaml", "provider: llamacpp\nmodle: x\n");
    const { code, stdout } = await p.runMm(["-check"]);
    assert.equal(code, 1);
    assert.match(stdout, /^FAIL +configuration +.*agent\.yaml:2:1: unknown key "modle"/);
    assert.equal(stdout.trimEnd().split("\n").length, 1);
  }));

test("-check with a model server that is not up says so within seconds", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, []);
    await server.close();
    const { code, stdout } = await p.runMm(["-check"]);
    assert.equal(code, 1);
    assert.match(stdout, /^FAIL +model +.*connection refused/m);
  }));

test("-check ends with 1 for a definition of a subagent that cannot be used", () =>
  withProject(async (p) => {
    await oneAgent(p, always({ text: "ready" }));
    await p.write(".mm/agents/broken.md", "not one\n");
    const { code, stdout } = await p.runMm(["-check"]);
    assert.equal(code, 1, stdout);
    assert.match(stdout, /^FAIL +definition +The definition ".*broken\.md" has no front matter/m);
  }));

test("-init writes a commented file that loads, and keeps an existing one", () =>
  withProject(async (p) => {
    const first = await p.runMm(["-init"]);
    assert.equal(first.code, 0, first.stderr);
    const file = p.path("agent.yaml");
    assert.ok(first.stdout.includes(file), first.stdout);
    const text = await p.read("agent.yaml");
    assert.match(text, /^provider: \w+$/m);
    assert.ok((text.match(/^#/gm) ?? []).length >= 5, text);
    // Loads: what comes next is the prompt of line mode.
    const { code, stderr } = await p.runMm(["-line"], { stdin: "/quit\n" });
    assert.equal(code, 0, stderr);
    await p.write("agent.yaml", "mine: yes\n");
    const second = await p.runMm(["-init"]);
    assert.equal(second.code, 2);
    assert.equal(second.stdout, "");
    assert.ok(second.stderr.startsWith(`mm: "${file}" exists already`), second.stderr);
    assert.equal(await p.read("agent.yaml"), "mine: yes\n");
  }));

test("-init -cwd writes into that directory", () =>
  withProject(async (p) => {
    await p.write("sub/.keep", "");
    assert.equal((await p.runMm(["-init", "-cwd", "sub"])).code, 0);
    assert.equal(p.exists("sub/agent.yaml"), true);
    assert.equal(p.exists("agent.yaml"), false);
  }));

test("-demo runs through with real processes, labels its model, and leaves nothing", () =>
  withProject(async (p) => {
    const { code, stdout, stderr } = await p.runMm(["-demo"], { timeoutMs: 60_000 });
    assert.equal(code, 0, stderr);
    assert.match(stdout, /demo \(no model\)/);
    assert.match(stdout, /Processes now: \d+ your agent\n +\d+ mm -acp -config .*bob\.yaml/);
    assert.match(stdout, /\/ask-bob[\s\S]+ask_agent[\s\S]+🔐[\s\S]+--ask[\s\S]+a subagent/);
    // Only what the program made for itself counts, not what the runtime keeps there.
    const rest = await readdir(join(dirname(p.dir), "tmp"));
    assert.deepEqual(rest.filter((name) => name.startsWith("mm")), []);
    assert.deepEqual(await readdir(p.dir), []);
  }));
