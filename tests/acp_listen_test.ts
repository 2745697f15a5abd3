import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { basename } from "node:path";
import { test } from "node:test";
import { client, methods } from "@agentclientprotocol/sdk";
import { createHttpStream } from "@agentclientprotocol/sdk/experimental/http-client";
import { createWebSocketStream } from "@agentclientprotocol/sdk/experimental/ws-client";
import { bash } from "./support/agents.ts";
import type { MmProcess } from "./support/mm.ts";
import { always, inOrder, onTool, onUser } from "./support/model_server.ts";
import { oneAgent } from "./support/one_agent.ts";
import { programUnderTest } from "./support/program.ts";
import { type TestProject, withProject } from "./support/project.ts";

const TOKEN = "a-token-of-this-test";

/** Only Deno serves WebSockets. */
const onDeno = !/^(?:node|bun)/u.test(basename(programUnderTest()[0]));
const skip = onDeno ? false : "only the executable and Deno listen";

interface Listening {
  readonly mm: MmProcess;
  /** `127.0.0.1:PORT` */
  readonly host: string;
}

/** Starts an mm that listens on a free port. */
async function listening(p: TestProject, args: readonly string[] = []): Promise<Listening> {
  const mm = p.mm(["-acp", "-listen", "127.0.0.1:0", ...args], { env: { MM_LISTEN_TOKEN: TOKEN } });
  const { match } = await mm.waitForOutput(/Listening on ws:\/\/(127\.0\.0\.1:(\d+))\/acp/u);
  // The end of its input does not end it.
  p.defer(() => mm.signal("SIGTERM"));
  return { mm, host: match[1] ?? "" };
}

/** The text of a session as one client got it. */
class Heard {
  readonly #texts = new Map<string, string>();
  take({ sessionId, update }: { sessionId: string; update: { sessionUpdate: string } }): void {
    const { content } = update as { content?: { text?: string } };
    if (update.sessionUpdate !== "agent_message_chunk") return;
    this.#texts.set(sessionId, (this.#texts.get(sessionId) ?? "") + (content?.text ?? ""));
  }
  text(sessionId: string): string {
    return this.#texts.get(sessionId) ?? "";
  }
}

/** A client of the protocol's own library. */
function newClient(heard: Heard, choice = "allow_once") {
  return client({ name: "listen-test" })
    .onNotification(methods.client.session.update, ({ params }) => heard.take(params))
    .onRequest(methods.client.session.requestPermission, ({ params }) => ({
      outcome: {
        outcome: "selected" as const,
        optionId: params.options.find((o) => o.kind === choice)?.optionId ?? "",
      },
    }));
}

const HELLO = { protocolVersion: 1, clientCapabilities: {} } as const;

test(
  "clients over WebSocket have each their own sessions, and the whole of a turn",
  { skip },
  () =>
    withProject(async (p) => {
      await oneAgent(p, [
        onUser("Go", { toolCalls: [bash("touch ran")] }),
        onTool("", { text: "It ran." }),
        always({ text: "Hello." }),
      ]);
      const { mm, host } = await listening(p);
      const url = `ws://${host}/acp?token=${TOKEN}`;
      const [a, b] = [new Heard(), new Heard()];
      await newClient(a).connectWith(createWebSocketStream(url), async (first) => {
        await first.request(methods.agent.initialize, HELLO);
        const { sessionId } = await first.request(methods.agent.session.new, {
          cwd: p.dir,
          mcpServers: [],
        });
        await newClient(b).connectWith(createWebSocketStream(url), async (second) => {
          await second.request(methods.agent.initialize, HELLO);
          const other = await second.request(methods.agent.session.new, {
            cwd: p.dir,
            mcpServers: [],
          });
          const prompt = [{ type: "text" as const, text: "Hi" }];
          await second.request(methods.agent.session.prompt, {
            sessionId: other.sessionId,
            prompt,
          });
          assert.equal(b.text(other.sessionId), "Hello.");
          // The session of one client is unknown to another.
          await assert.rejects(
            second.request(methods.agent.session.prompt, { sessionId, prompt }),
            /not found/iu,
          );
        });
        const reply = await first.request(methods.agent.session.prompt, {
          sessionId,
          prompt: [{ type: "text", text: "Go" }],
        });
        assert.equal(reply.stopReason, "end_turn");
        assert.equal(a.text(sessionId), "It ran.");
        assert.equal(p.exists("ran"), true);
      });
      assert.equal(mm.stdout, "");
    }),
);

test(
  "a client over streamed HTTP does the same, with the token as a header",
  { skip },
  () =>
    withProject(async (p) => {
      await oneAgent(p, always({ text: "Hello." }));
      const { host } = await listening(p);
      const heard = new Heard();
      const stream = createHttpStream(`http://${host}/acp`, {
        headers: { authorization: `Bearer ${TOKEN}` },
      });
      await newClient(heard).connectWith(stream, async (agent) => {
        await agent.request(methods.agent.initialize, HELLO);
        const { sessionId } = await agent.request(methods.agent.session.new, {
          cwd: p.dir,
          mcpServers: [],
        });
        await agent.request(methods.agent.session.prompt, {
          sessionId,
          prompt: [{ type: "text", text: "Hi" }],
        });
        assert.equal(heard.text(sessionId), "Hello.");
      });
    }),
);

/** Asks for a WebSocket, and returns the status of the answer. */
function knock(
  host: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  method = "GET",
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`http://${host}${path}`, {
      method,
      headers: {
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
        ...headers,
      },
    });
    request.on("upgrade", (response, socket) => {
      socket.destroy();
      resolve(response.statusCode);
    });
    request.on("response", (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on("error", reject);
    request.end();
  });
}

test(
  "without the token nobody gets in, nor with a page of another origin",
  { skip },
  () =>
    withProject(async (p) => {
      await oneAgent(p, []);
      const { host } = await listening(p);
      const bearer = { authorization: `Bearer ${TOKEN}` };
      const cases: readonly (readonly [string, Record<string, string>, number])[] = [
        ["/acp", {}, 401],
        ["/acp", { authorization: "Bearer wrong" }, 401],
        ["/acp", { authorization: `Bearer ${TOKEN}x` }, 401],
        ["/acp", { authorization: `Basic ${TOKEN}` }, 401],
        ["/acp?token=", {}, 401],
        [`/acp?token=${TOKEN.slice(1)}`, {}, 401],
        // A header that is wrong is not made good by the address.
        [`/acp?token=${TOKEN}`, { authorization: "Bearer wrong" }, 401],
        ["/acp", { ...bearer, origin: "https://evil.example" }, 403],
        ["/acp", { ...bearer, origin: "http://127.0.0.1.evil.example" }, 403],
        ["/acp", { ...bearer, origin: "null" }, 403],
        ["/other", bearer, 404],
        ["/acp", { ...bearer, origin: "http://localhost:3000" }, 101],
        ["/acp", bearer, 101],
        [`/acp?token=${TOKEN}`, {}, 101],
      ];
      for (const [path, headers, status] of cases) {
        assert.equal(
          await knock(host, path, headers),
          status,
          `${path} ${JSON.stringify(headers)}`,
        );
      }
      const post = await fetch(`http://${host}/acp`, { method: "POST", body: "{}" });
      assert.equal(post.status, 401);
      await post.body?.cancel();
    }),
);

test(
  "the SDK's own client is turned away without a token or with a wrong one",
  { skip },
  () =>
    withProject(async (p) => {
      await oneAgent(p, []);
      const { host } = await listening(p);
      for (const query of ["", "?token=wrong"]) {
        const stream = createWebSocketStream(`ws://${host}/acp${query}`);
        await assert.rejects(
          newClient(new Heard()).connectWith(
            stream,
            (agent) => agent.request(methods.agent.initialize, HELLO),
          ),
        );
      }
    }),
);

test(
  "a client that goes away takes what ran for it along; the others go on",
  { skip },
  () =>
    withProject(async (p) => {
      const server = await oneAgent(p, [
        onUser("Wait", { toolCalls: [bash("touch began; trap '' TERM; sleep 300")] }),
        always({ text: "Still here." }),
      ], { yolo: true });
      const { host } = await listening(p);
      const url = `ws://${host}/acp?token=${TOKEN}`;
      const socket = new WebSocket(url);
      const answers: string[] = [];
      const came = new Set<() => void>();
      socket.addEventListener("message", ({ data }) => {
        answers.push(String(data));
        for (const look of came) look();
      });
      const until = (text: RegExp) =>
        new Promise<string>((resolve) => {
          const look = () => {
            const found = answers.find((answer) => text.test(answer));
            if (found === undefined) return;
            came.delete(look);
            resolve(found);
          };
          came.add(look);
          look();
        });
      await new Promise((resolve) => socket.addEventListener("open", resolve));
      const send = (message: object) => socket.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
      send({ id: 1, method: "initialize", params: HELLO });
      await until(/"id":1/u);
      send({ id: 2, method: "session/new", params: { cwd: p.dir, mcpServers: [] } });
      const sessionId = String(JSON.parse(await until(/"id":2/u)).result.sessionId);
      const prompt = [{ type: "text", text: "Wait" }];
      send({ id: 3, method: "session/prompt", params: { sessionId, prompt } });
      await until(/"in_progress"/u);
      socket.close();
      const heard = new Heard();
      await newClient(heard).connectWith(createWebSocketStream(url), async (agent) => {
        await agent.request(methods.agent.initialize, HELLO);
        // The saved conversation of the client that left can be taken up once it is closed.
        const load = () =>
          agent.request(methods.agent.session.load, { sessionId, cwd: p.dir, mcpServers: [] });
        for (let attempt = 1;; attempt++) {
          try {
            await load();
            break;
          } catch (error) {
            if (attempt === 100) throw error;
            await new Promise((resolve) => setTimeout(resolve, 50));
          }
        }
        const reply = await agent.request(methods.agent.session.prompt, {
          sessionId,
          prompt: [{ type: "text", text: "Hi" }],
        });
        assert.equal(reply.stopReason, "end_turn");
        assert.match(heard.text(sessionId), /Still here\.$/u);
      });
      assert.equal(server.requests.length, 2);
    }),
);

for (const [signal, status] of [["SIGTERM", 143], ["SIGINT", 130], ["SIGHUP", 129]] as const) {
  test(
    `${signal} ends an mm that listens with ${status}, and all that it started`,
    { skip },
    () =>
      withProject(async (p) => {
        await oneAgent(p, inOrder({ toolCalls: [bash("trap '' TERM HUP; sleep 300")] }), {
          yolo: true,
        });
        const { mm, host } = await listening(p);
        const socket = createWebSocketStream(`ws://${host}/acp?token=${TOKEN}`);
        const running = Promise.withResolvers<void>();
        const app = client({ name: "listen-test" })
          .onNotification(methods.client.session.update, ({ params }) => {
            if (/in_progress/u.test(JSON.stringify(params))) running.resolve();
          });
        const connected = app.connectWith(socket, async (agent) => {
          await agent.request(methods.agent.initialize, HELLO);
          const { sessionId } = await agent.request(methods.agent.session.new, {
            cwd: p.dir,
            mcpServers: [],
          });
          await agent.request(methods.agent.session.prompt, {
            sessionId,
            prompt: [{ type: "text", text: "Go" }],
          });
        });
        connected.catch(() => {});
        await running.promise;
        const told = performance.now();
        mm.signal(signal);
        assert.equal((await mm.exit).code, status);
        assert.ok(performance.now() - told < 5000);
        await assert.rejects(connected, /closed/u);
      }),
  );
}

test(
  "a token is made up and printed where none is set, and reaches no command",
  { skip },
  () =>
    withProject(async (p) => {
      await oneAgent(
        p,
        inOrder({ toolCalls: [bash("env | grep -c MM_LISTEN_TOKEN")] }, { text: "ok" }),
        { yolo: true },
      );
      const mm = p.mm(["-acp", "-listen", "localhost:0"]);
      p.defer(() => mm.signal("SIGTERM"));
      const { match } = await mm.waitForOutput(/localhost:(\d+)[\s\S]*Token: ([\w-]{32})\n/u);
      const host = `127.0.0.1:${match[1]}`;
      assert.equal(await knock(host, `/acp?token=${match[2]}`, {}), 101);
      assert.equal(await knock(host, "/acp", {}), 401);

      const { host: second, mm: set } = await listening(p);
      assert.ok(!set.stderr.includes(TOKEN));
      const heard: string[] = [];
      const app = client({ name: "listen-test" }).onNotification(
        methods.client.session.update,
        ({ params }) => void heard.push(JSON.stringify(params)),
      );
      const stream = createWebSocketStream(`ws://${second}/acp?token=${TOKEN}`);
      await app.connectWith(stream, async (agent) => {
        await agent.request(methods.agent.initialize, HELLO);
        const { sessionId } = await agent.request(methods.agent.session.new, {
          cwd: p.dir,
          mcpServers: [],
        });
        await agent.request(methods.agent.session.prompt, {
          sessionId,
          prompt: [{ type: "text", text: "Go" }],
        });
      });
      assert.match(heard.join(""), /\\n0\\n|```\\n0/u);
    }),
);

test(
  "wrong addresses, weak tokens and open doors are told at once",
  { skip },
  () =>
    withProject(async (p) => {
      await oneAgent(p, []);
      const cases: readonly (readonly [string, Record<string, string>, number, RegExp])[] = [
        ["here", {}, 2, /Cannot listen on "here": write an address and a port/u],
        ["127.0.0.1:70000", {}, 2, /Cannot listen on "127\.0\.0\.1:70000"/u],
        ["127.0.0.1:0", { MM_LISTEN_TOKEN: "short" }, 2, /MM_LISTEN_TOKEN is too weak/u],
        ["127.0.0.1:0", { MM_LISTEN_TOKEN: "" }, 2, /MM_LISTEN_TOKEN is too weak/u],
        ["0.0.0.0:0", {}, 2, /which other machines reach.*set MM_LISTEN_TOKEN/u],
        ["[::]:0", {}, 2, /which other machines reach/u],
      ];
      for (const [address, env, status, words] of cases) {
        const { code, stdout, stderr } = await p.runMm(["-acp", "-listen", address], { env });
        assert.deepEqual({ code, stdout }, { code: status, stdout: "" }, address);
        assert.match(stderr, words);
      }
      const { host } = await listening(p);
      const taken = await p.runMm(["-acp", "-listen", host]);
      assert.equal(taken.code, 1);
      assert.match(taken.stderr, /Cannot listen on "127\.0\.0\.1:\d+": .*in use/u);
      const lonely = await p.runMm(["-line", "-listen", host]);
      assert.equal(lonely.code, 2);
      assert.match(lonely.stderr, /-listen goes with -acp only/u);
    }),
);
