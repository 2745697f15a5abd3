/**
 * `deno task test:real-model`: runs mm against a real llama.cpp server with a real, small model.
 *
 * Not a part of the test command: the first run downloads 280 MB and builds the server. Where that is
 * not possible, it says why and ends with status 0. `MM_REAL_MODEL_URL` names a server that runs
 * already; it has to use `tests/real_model/strict.jinja`.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { ROOT } from "./checks/repository.ts";
import { cacheDirectory, install, type Installed } from "./real_model/install.ts";

/** Milliseconds until the server has loaded its model. */
const LOAD_MS = 120_000;

const TESTS = ["conversations.ts", "fork.ts"].map((name) =>
  join(ROOT, "tests", "real_model", name)
);

interface RunningServer {
  readonly url: string;
  readonly end: () => Promise<void>;
}

/** Starts the server on a free port and waits until it is ready. */
async function startServer({ server, weights }: Installed): Promise<RunningServer> {
  const port = await freePort();
  const child = spawn(server, [
    ...["--model", weights, "--host", "127.0.0.1", "--port", String(port)],
    ...["--ctx-size", "8192", "--parallel", "2", "--slots"],
    ...["--jinja", "--chat-template-file", join(ROOT, "tests", "real_model", "strict.jinja")],
  ], { stdio: ["ignore", "ignore", "pipe"] });
  let words = "";
  child.stderr.on("data", (bytes) => words = (words + String(bytes)).slice(-2000));
  const end = () => endOf(child);
  const url = `http://127.0.0.1:${port}`;
  const until = performance.now() + LOAD_MS;
  while (performance.now() < until) {
    if (child.exitCode !== null) throw new Error(`The server ended: ${words}`);
    const health = await fetch(`${url}/health`).catch(() => undefined);
    await health?.body?.cancel();
    if (health?.status === 200) return { url: `${url}/v1`, end };
    await sleep(200);
  }
  await end();
  throw new Error(`The server was not ready within ${LOAD_MS / 1000} s: ${words}`);
}

async function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = once(child, "exit");
  child.kill();
  await ended;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function runTests(url: string): Promise<number> {
  const child = spawn(process.execPath, ["test", "-A", "--no-check", ...TESTS], {
    stdio: "inherit",
    env: { ...process.env, MM_REAL_MODEL_URL: url },
  });
  const [code] = await once(child, "exit");
  return code ?? 1;
}

async function main(): Promise<number> {
  const given = process.env["MM_REAL_MODEL_URL"];
  if (given !== undefined) return await runTests(given);
  let server: RunningServer;
  try {
    server = await startServer(await install(cacheDirectory()));
  } catch (error) {
    process.stdout.write(`SKIPPED: no real model server: ${(error as Error).message}\n`);
    return 0;
  }
  try {
    return await runTests(server.url);
  } finally {
    await server.end();
  }
}

process.exit(await main());
