/**
 * A fork on a real llama.cpp server: what the conversation has sent is in the server's cache, and the
 * fork is not read anew. Run by `deno task test:real-model`.
 *
 * @module
 */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { test } from "node:test";
import type { Json } from "../support/acp_editor.ts";
import { withProject } from "../support/project.ts";

const SERVER = new URL(process.env["MM_REAL_MODEL_URL"] ?? "http://127.0.0.1:1/v1");

/** Two processors that do other things too write some five tokens in a second. */
const SLOW = { timeoutMs: 240_000 };

/** One request and what the server counted. */
interface Counted {
  readonly lastUser: string;
  readonly prompt: number;
  readonly cached: number;
}

/** Passes everything on to the real server, and notes what it counted. */
async function countingProxy(): Promise<{ server: Server; url: string; counted: Counted[] }> {
  const counted: Counted[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const body = new TextDecoder().decode(Buffer.concat(chunks));
    const { method, headers, url } = incoming;
    const passed = request({
      host: SERVER.hostname,
      port: SERVER.port,
      path: url,
      method,
      headers,
    }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      let text = "";
      answer.on("data", (chunk) => {
        text += String(chunk);
        outgoing.write(chunk);
      });
      answer.on("end", () => {
        outgoing.end();
        const usage = usageOf(text);
        if (url?.endsWith("/chat/completions") && usage !== undefined) {
          const messages: Json[] = JSON.parse(body).messages;
          const user = messages.findLast((message) => message.role === "user");
          counted.push({ lastUser: String(user?.content ?? ""), ...usage });
        }
      });
    });
    passed.on("error", () => outgoing.destroy());
    passed.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, counted };
}

function usageOf(stream: string): { prompt: number; cached: number } | undefined {
  for (const line of stream.split("\n").reverse()) {
    if (!line.startsWith("data: {")) continue;
    const { usage } = JSON.parse(line.slice("data: ".length));
    if (usage === undefined || usage === null) continue;
    const cached = usage.prompt_tokens_details?.cached_tokens ?? 0;
    return { prompt: usage.prompt_tokens, cached };
  }
  return undefined;
}

test("a fork's first request is in the server's cache, but for its task", () =>
  withProject(async (p) => {
    const { server, url, counted } = await countingProxy();
    try {
      await p.write(
        "agent.yaml",
        JSON.stringify({
          provider: "llamacpp",
          baseUrl: `${url}/v1`,
          temperature: 0,
          maxTokens: 8,
          yolo: true,
          tools: ["agent"],
          system: "You answer in a few words. ".repeat(60),
        }),
      );
      const editor = p.editor();
      const session = await editor.start();
      const say = (text: string) =>
        editor.request(
          "session/prompt",
          { sessionId: session, prompt: [{ type: "text", text }] },
          SLOW,
        );
      await say("First question.");
      await say("Second question.");
      const before = counted.at(-1)?.prompt ?? 0;
      await say("/fork Say hello");
      const began = performance.now();
      const forked = () => counted.find(({ lastUser }) => lastUser.includes("Say hello"));
      while (forked() === undefined) {
        assert.ok(performance.now() - began < SLOW.timeoutMs, "the fork sent nothing");
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      const { prompt = 0, cached = 0 } = forked() ?? {};
      process.stderr.write(
        `figure: the fork sent ${prompt} tokens, ${cached} of them from the cache; ` +
          `its parent had sent ${before}\n`,
      );
      assert.ok(cached >= 0.9 * before, `${cached} of ${before} were kept`);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }));
