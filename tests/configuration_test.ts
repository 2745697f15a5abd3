import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { bash, writeAgents } from "./support/agents.ts";
import { always, forModel, inOrder, onUser } from "./support/model_server.ts";
import { oneAgent } from "./support/one_agent.ts";
import { type TestProject, withProject } from "./support/project.ts";
import { busyUsualPorts } from "./support/usual_ports.ts";

/** A kind of wrong file, and the place and the words that the message has. */
const WRONG: readonly {
  readonly what: string;
  readonly text: string | Uint8Array;
  readonly place: string;
  readonly words: RegExp;
}[] = [
  {
    what: "a misspelt key",
    text: "provider: llamacpp\nmodle: x\n",
    place: "2:1",
    words: /unknown key "modle"; did you mean "model"\?/,
  },
  {
    what: "a misspelt key inside an entry",
    text: "provider: llamacpp\nmmConfigs:\n  bob:\n    path: b.yaml\n    desciption: x\n",
    place: "5:5",
    words: /unknown key "mmConfigs\.bob\.desciption"; did you mean "description"\?/,
  },
  {
    what: "an unknown key that resembles none",
    text: "provider: llamacpp\nzzzzzz: 1\n",
    place: "2:1",
    words: /unknown key "zzzzzz"/,
  },
  {
    what: "a wrong type",
    text: "provider: llamacpp\nyolo: maybe\n",
    place: "2:7",
    words: /"yolo" must be true or false, not "maybe"/,
  },
  {
    what: "an impossible value",
    text: "maxOutput: -5\n",
    place: "1:12",
    words: /"maxOutput" must be a whole number from 100/,
  },
  {
    what: "a duration that is none",
    text: "watchdogTimeout: soon\n",
    place: "1:18",
    words: /"watchdogTimeout" must be a duration such as 500ms, .* not "soon"/,
  },
  {
    what: "a misspelt provider",
    text: "provider: lamacpp\n",
    place: "1:11",
    words: /"provider" must be one of .*; did you mean "llamacpp"\?/,
  },
  {
    what: "a variable that is not set",
    text: "provider: llamacpp\nheaders:\n  x-key: ${NOT_SET_HERE}\n",
    place: "3:10",
    words: /"headers\.x-key" reads the environment variable "NOT_SET_HERE", which is not set/,
  },
  {
    what: "a key that stands twice",
    text: "model: a\nmodel: b\n",
    place: "2:1",
    words: /duplicate key "model"; it stands on line 1/,
  },
  {
    what: "broken YAML",
    text: "provider: llamacpp\n  model: x\n",
    place: "1:11",
    words: /YAML is not valid/,
  },
  {
    what: "a tab as indentation",
    text: "mmConfigs:\n\tbob: {}\n",
    place: "2:1",
    words: /a tab used for indentation; use spaces/,
  },
  {
    what: "a list in place of keys",
    text: "- a\n",
    place: "1:1",
    words: /must hold keys with values, not a list/,
  },
  {
    what: "text that is not UTF-8",
    text: new Uint8Array([0x6d, 0x3a, 0x20, 0xff, 0x0a]),
    place: "1:1",
    words: /is not UTF-8/,
  },
  {
    what: "a misspelt tool",
    text: "tools: [bash, raed]\n",
    place: "1:15",
    words: /"tools\[1\]" is "raed", which names no built-in tool; did you mean "read"\?/,
  },
  {
    what: "a rule that is none",
    text: "permissions:\n  deny: ['bash(']\n",
    place: "2:10",
    words: /"permissions\.deny\[0\]" is "bash\(", which is no rule/,
  },
  {
    what: "a rule about an agent that is not there",
    text: "permissions:\n  deny: ['bop/bash']\nmmConfigs: {bob: {path: b.yaml}}\n",
    place: "2:10",
    words: /the agent "bop", which is not in mmConfigs; did you mean "bob"\?/,
  },
  {
    what: "an entry with both path and command",
    text: "mmConfigs:\n  bob: {path: b.yaml, command: [x]}\n",
    place: "2:3",
    words: /"mmConfigs\.bob" has both path and command/,
  },
  {
    what: "an address without a scheme",
    text: "provider: custom\nbaseUrl: 'localhost:8080'\n",
    place: "2:10",
    words: /"baseUrl" must begin with http:\/\/ or https:\/\//,
  },
  {
    what: "a provider that needs an address",
    text: "provider: custom\n",
    place: "1:11",
    words: /set "baseUrl" too/,
  },
  {
    what: "a file that does not exist",
    text: "system: {file: nope.md}\n",
    place: "1:16",
    words: /"system\.file": the file "[^"]+nope\.md" does not exist/,
  },
  {
    what: "a key of a later version",
    text: "provider: llamacpp\nskills: {}\n",
    place: "2:1",
    words: /key "skills" is not supported by this version/,
  },
];

for (const { what, text, place, words } of WRONG) {
  test(`${what} is an error at its place, on stderr, with status 2`, () =>
    withProject(async (p) => {
      const file = await p.write("agent.yaml", text);
      const { code, stdout, stderr } = await p.runMm(["-p", "Go"]);
      assert.equal(code, 2);
      assert.equal(stdout, "");
      assert.ok(stderr.startsWith(`mm: ${file}:${place}: `), stderr);
      assert.match(stderr, words);
      assert.equal(stderr.trimEnd().split("\n").length, 1);
      assert.doesNotMatch(stderr, /\.\n$|n't|^\s+at /m);
    }));
}

test("a wrong file is the same error in every mode that reads it", () =>
  withProject(async (p) => {
    const file = await p.write("agent.yaml", "provider: llamacpp\nmodle: x\n");
    const said = `mm: ${file}:2:1: unknown key "modle"; did you mean "model"?\n`;
    for (const args of [["-line"], ["-acp"], ["-p", "Go"], ["--ask", "bob", "Hi"]]) {
      const { code, stdout, stderr } = await p.runMm(args);
      assert.deepEqual({ args, code, stdout, stderr }, { args, code: 2, stdout: "", stderr: said });
    }
  }));

test("several faults are told in one message, in the order of the file", () =>
  withProject(async (p) => {
    await p.write("agent.yaml", "yolo: maybe\nmodle: x\nmaxTurns: 0\n");
    const { code, stderr } = await p.runMm(["-p", "Go"], { env: { AGENT_TEMPERATURE: "hot" } });
    assert.equal(code, 2);
    const [head, ...lines] = stderr.trimEnd().split("\n");
    assert.match(head ?? "", /4 problems/);
    assert.deepEqual(
      lines.map((line) => /agent\.yaml:(\d+)|^(AGENT_\w+): /.exec(line)?.slice(1).join("")),
      ["1", "2", "3", "AGENT_TEMPERATURE"],
    );
  }));

test("a file that cannot be used is never passed over for the next one", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, always({ text: "wrong one" }));
    await p.write(".mm/agent.yaml", await p.read("agent.yaml"));
    await p.write("agent.yaml", "nonsense: 1\n");
    const { code } = await p.runMm(["-p", "Go"]);
    assert.equal(code, 2);
    assert.equal(server.requests.length, 0);
  }));

test("the configuration is -config, else agent.yaml, else .mm/agent.yaml, else the user's", () =>
  withProject(async (p) => {
    const server = await p.model({ reply: always({ text: "ok" }) });
    const agent = (model: string) =>
      `provider: llamacpp\nbaseUrl: ${server.url}\nmodel: ${model}\n`;
    const ask = async (...args: string[]) => {
      const { code, stderr } = await p.runMm([...args, "-p", "Go"]);
      assert.equal(code, 0, stderr);
      return server.requests.at(-1)?.model;
    };
    await mkdir(join(p.configDir, "mm"));
    await writeFile(join(p.configDir, "mm", "agent.yaml"), agent("user"));
    assert.equal(await ask(), "user");
    await p.write(".mm/agent.yaml", agent("hidden"));
    assert.equal(await ask(), "hidden");
    await p.write("agent.yaml", agent("project"));
    assert.equal(await ask(), "project");
    await p.write("sub/named.yaml", agent("named"));
    assert.equal(await ask("-config", "sub/named.yaml"), "named");
    // The working directory counts, not where mm was started.
    await p.write("sub/agent.yaml", agent("sub"));
    assert.equal(await ask("-cwd", "sub"), "sub");
  }));

test("the user's configuration lies in the system's place when MM_CONFIG_DIR is not set", () =>
  withProject(async (p) => {
    const server = await p.model({ reply: always({ text: "ok" }) });
    const folder = join(p.home, ".config", "mm");
    await mkdir(folder, { recursive: true });
    await writeFile(
      join(folder, "agent.yaml"),
      `provider: llamacpp\nbaseUrl: ${server.url}\nmodel: home\n`,
    );
    const { code, stderr } = await p.runMm(["-p", "Go"], { env: { MM_CONFIG_DIR: "" } });
    assert.equal(code, 0, stderr);
    assert.equal(server.requests[0]?.model, "home");
  }));

test("AGENT_* variables override the file, and flags override them", () =>
  withProject(async (p) => {
    const server = await oneAgent(
      p,
      inOrder({ toolCalls: [bash("true")] }, { text: "ok" }, {
        text: "ok",
      }),
      { temperature: 0.1 },
    );
    const env = { AGENT_MODEL: "env", AGENT_TEMPERATURE: "0.7", AGENT_YOLO: "on" };
    assert.equal((await p.runMm(["-p", "Go"], { env })).code, 0);
    assert.equal(server.requests[0]?.body.temperature, 0.7);
    assert.equal(server.requests[0]?.model, "env");
    assert.doesNotMatch(server.requests[1]?.last.text ?? "", /Not run/);
    await p.runMm(["-model", "flag", "-p", "Go"], { env });
    assert.equal(server.requests[2]?.model, "flag");
  }));

test("AGENT_* variables alone are a configuration", () =>
  withProject(async (p) => {
    const server = await p.model({ reply: always({ text: "ok" }) });
    const { code, stdout } = await p.runMm(["-p", "Go"], {
      env: { AGENT_PROVIDER: "llamacpp", AGENT_BASE_URL: server.url, AGENT_MODEL: "env" },
    });
    assert.equal(code, 0);
    assert.equal(stdout, "ok\n");
    assert.equal(server.requests[0]?.model, "env");
  }));

test("AGENT_* variables reach neither commands nor asked agents", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel("chosen", onUser("Go", { toolCalls: [bash("env | grep ^AGENT_; echo end")] })),
        forModel("chosen", always({ text: "ok" })),
        forModel("bob", always({ text: "I am bob." })),
      ],
    });
    await writeAgents(p, { server, you: { yolo: true } });
    const { stdout } = await p.runMm(["-line"], {
      stdin: "Go\n/ask-bob Who?\n",
      env: { AGENT_MODEL: "chosen", AGENT_MAX_TURNS: "7" },
    });
    assert.match(stdout, /I am bob\./);
    assert.match(server.requests[1]?.last.text ?? "", /^end/);
    assert.equal(server.requests[2]?.model, "bob");
  }));

for (
  const [variable, value, words] of [
    ["AGENT_YOLO", "perhaps", /AGENT_YOLO: must be true, false, on, off, 1 or 0, not "perhaps"/],
    ["AGENT_MAX_TURNS", "many", /AGENT_MAX_TURNS: must be a number, not "many"/],
    ["AGENT_PROVIDER", "olama", /AGENT_PROVIDER: .*did you mean "ollama"/],
    ["AGENT_SESSIONS", "sometimes", /AGENT_SESSIONS: must be on or off/],
    ["AGENT_MODEL", "", /AGENT_MODEL: is empty; give it a value or unset it/],
  ] as const
) {
  test(`${variable}="${value}" is an error that names the variable`, () =>
    withProject(async (p) => {
      const server = await oneAgent(p, []);
      const { code, stdout, stderr } = await p.runMm(["-p", "Go"], { env: { [variable]: value } });
      assert.equal(code, 2);
      assert.equal(stdout, "");
      assert.match(stderr, words);
      assert.equal(server.requests.length, 0);
    }));
}

test("a misspelt AGENT_* variable is a warning with the right name", () =>
  withProject(async (p) => {
    await oneAgent(p, always({ text: "ok" }));
    const { code, stdout, stderr } = await p.runMm(["-p", "Go"], { env: { AGENT_MODLE: "x" } });
    assert.equal(code, 0);
    assert.equal(stdout, "ok\n");
    assert.match(stderr, /AGENT_MODLE is ignored; did you mean "AGENT_MODEL"\?/);
  }));

const busy = await busyUsualPorts();
/** Whether this machine has no model server of its own that would be found. */
const alone = { skip: busy.length > 0 && `something listens on the ports ${busy.join(", ")}` };

test("without any model the message says what to do next", alone, () =>
  withProject(async (p) => {
    const { code, stdout, stderr } = await p.runMm(["-p", "Go"]);
    assert.equal(code, 1);
    assert.equal(stdout, "");
    assert.match(stderr, /No model was found.*llama\.cpp \(8080\).*OPENAI_API_KEY.*-init.*-demo/);
  }));

test(
  "a key in the environment chooses its provider without a request being sent",
  alone,
  () =>
    withProject(async (p) => {
      const proxy = await countingProxy(p);
      const editor = p.editor([], {
        env: {
          OPENAI_API_KEY: "sk-test-not-a-real-key",
          HTTPS_PROXY: proxy.url,
          ALL_PROXY: proxy.url,
          NO_PROXY: "127.0.0.1,localhost",
        },
      });
      const session = await editor.start();
      await editor.mm.waitForOutput(/using OpenAI with "[^"]+", because OPENAI_API_KEY is set/, {
        stream: "stderr",
      });
      await editor.prompt(session, "/status");
      assert.match(editor.text(session), /^model: openai\/\S+ at https:\/\/api\.openai\.com\/v1/);
      assert.equal(proxy.connections, 0);
      assert.doesNotMatch(editor.mm.output, /sk-test/);
    }),
);

test("an explicit provider that needs a key says which variable is missing", () =>
  withProject(async (p) => {
    await p.write("agent.yaml", "provider: anthropic\n");
    const { code, stderr } = await p.runMm(["-p", "Go"]);
    assert.equal(code, 2);
    assert.match(stderr, /Anthropic needs an API key: set ANTHROPIC_API_KEY/);
  }));

/** A proxy that refuses everything and counts who came. */
async function countingProxy(p: TestProject) {
  const sockets = new Set<Socket>();
  const proxy = { url: "", connections: 0 };
  const server = createServer((socket) => {
    proxy.connections++;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  p.defer(() => new Promise((resolve) => server.close(resolve)));
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
}

const KEY = "hunter2-very-secret-key-0123456789";
const HEADER = "correct-horse-battery-staple";

test("the key and the headers are sent to the server and never shown, though it sends them back", () =>
  withProject(async (p) => {
    const echo = {
      status: 401,
      body: {
        error: { message: `Incorrect API key: ${KEY}, Bearer ${KEY}, x-team ${HEADER}` },
        headers: { authorization: `Bearer ${KEY}` },
      },
    };
    const server = await p.model({
      reply: always(echo),
      route: () => echo,
      secrets: [KEY, HEADER],
    });
    const keys = { apiKey: "${MY_KEY}", headers: { "x-team": HEADER } };
    await writeAgents(p, { server, you: keys, bob: keys });
    const env = { MY_KEY: KEY, MM_LOG: "debug" };
    const shown: string[] = [];
    for (
      const [args, stdin] of [
        [["-verbose", "-p", "Go"], ""],
        [["-verbose", "-line"], "Go\n/status\n/model\n/ask-bob Hi\n/agents\n"],
        [["-verbose", "--ask", "bob", "Hi"], ""],
        [["-json", "--ask", "bob", "Hi"], ""],
        [["-check"], ""],
      ] as const
    ) {
      const { stdout, stderr } = await p.runMm(args, { stdin, env });
      assert.match(stdout + stderr, /401/, `${args}`);
      shown.push(stdout, stderr);
    }
    const editor = p.editor(["-verbose"], { env });
    const session = await editor.start();
    await assert.rejects(editor.prompt(session, "Go"), /401.*Incorrect API key: \[secret\]/);
    await assert.rejects(editor.prompt(session, "/ask-bob Hi"), /401/);
    shown.push(editor.mm.output);
    for (const secret of [KEY, HEADER]) {
      assert.ok(!shown.some((text) => text.includes(secret)), secret);
    }
    for (const { headers } of server.requests) {
      assert.equal(headers.authorization, `Bearer ${KEY}`);
      assert.equal(headers["x-team"], HEADER);
    }
  }));

test("a secret stands in no message about a wrong file", () =>
  withProject(async (p) => {
    await p.write("agent.yaml", `provider: llamacpp\napiKey: [${KEY}]\nheaders: ${HEADER}\nx: 1\n`);
    const { code, stderr } = await p.runMm(["-p", "Go"], { env: { AGENT_API_KEY: "" } });
    assert.equal(code, 2);
    assert.match(stderr, /"apiKey" must be/);
    assert.doesNotMatch(stderr, new RegExp(`${KEY}|${HEADER}`));
  }));

test("the key of the file is not sent to another server that a variable names", () =>
  withProject(async (p) => {
    const other = await p.model({ reply: always({ text: "ok" }), secrets: [KEY] });
    await oneAgent(p, [], { apiKey: KEY });
    const { code, stderr } = await p.runMm(["-p", "Go"], { env: { AGENT_BASE_URL: other.url } });
    assert.equal(code, 0);
    assert.match(stderr, /AGENT_BASE_URL leads to another server, so "apiKey" .* not used/);
    assert.equal(other.requests[0]?.headers.authorization ?? "", "");
  }));
