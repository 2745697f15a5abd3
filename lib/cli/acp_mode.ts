/**
 * `mm -acp`: an agent for an editor or for another agent, on stdin and stdout.
 *
 * @module
 */
import process from "node:process";
import { Readable } from "node:stream";
import { guardConsole } from "../acp/console.ts";
import { VERSION } from "../base/version.ts";
import { within } from "../base/within.ts";
import { ASK_DEPTH_VARIABLE, parseAskDepth } from "../platform/ask_depth.ts";
import { stdoutBytes } from "../platform/stdout_bytes.ts";
import type { ModeOptionsOf } from "./mode.ts";
import { safeText } from "./safe_text.ts";

/** Milliseconds that the greeting waits for what a server says about its model. */
const READY_MS = 300;

/** Serves one client until it closes stdin. Returns the exit status. */
export async function runAcpMode(
  { options, io, lifetime }: ModeOptionsOf<"acp">,
): Promise<number> {
  // Whatever a library prints must not end up between the messages.
  guardConsole(process.stderr);
  const say = (text: string) => io.err(`mm: ${text}\n`);
  // The protocol's library takes longest to load. Meanwhile the configuration is read and the model
  // server is asked what it is; a wrong configuration is reported all the same.
  const serving = import("../acp/agent.ts");
  const hosting = Promise.all([import("./load_agent_config.ts"), import("./compose.ts")])
    .then(async ([{ loadAgentConfig }, { composeHost }]) => {
      const { config } = await loadAgentConfig({ options, io });
      const host = await composeHost({
        config,
        env: io.env,
        ...(options.agent === undefined ? {} : { subagent: options.agent }),
        onNotice: say,
      });
      lifetime.add(() => host.close());
      return host;
    });
  const [{ serveAcp }, host] = await Promise.all([serving, hosting]);
  // An editor offers images only if the greeting announces them. An asking mm sends none.
  const { ready } = host;
  if (ready !== undefined && parseAskDepth(io.env[ASK_DEPTH_VARIABLE]) === 0) {
    await within(ready, READY_MS);
  }
  await serveAcp({
    host,
    streams: {
      input: Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
      output: stdoutBytes(),
    },
    version: VERSION,
    signal: lifetime.signal,
    warn: (line) => say(safeText(line)),
    ...(options.verbose ? { log: say } : {}),
  });
  return 0;
}
