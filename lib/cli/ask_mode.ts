/**
 * `mm --ask`: an agent's answer for a script. The answer alone goes to stdout.
 *
 * @module
 */
import { readFile } from "node:fs/promises";
import { EXIT, exitStatusOf } from "../base/ends.ts";
import { UsageError } from "../base/errors.ts";
import { didYouMean } from "../base/nearest.ts";
import { settledOrAborted } from "../base/until_aborted.ts";
import type { AgentConfig } from "../config/types.ts";
import { watchParent } from "../platform/parent_watch.ts";
import type { AskOutcome } from "./ask_outcome.ts";
import { jsonLine } from "./ask_outcome.ts";
import { holdAnswer } from "./hold_answer.ts";
import { onInterruptSignal } from "./interrupt.ts";
import type { ModeOptions } from "./command_line.ts";
import { loadAgentConfig } from "./load_agent_config.ts";
import type { Io, ModeOptionsOf } from "./mode.ts";
import { createPaint } from "./paint.ts";
import { MAX_STDIN_BYTES, readStdin } from "./read_stdin.ts";
import { createRenderer } from "./render.ts";
import { safeText } from "./safe_text.ts";
import { createScreen } from "./screen.ts";

/** Asks once. Returns the exit status. */
export async function runAskMode(
  { mode, options, io, lifetime }: ModeOptionsOf<"ask">,
): Promise<number> {
  const { agent } = mode;
  const started = performance.now();
  const stop = new AbortController();
  // An orphan would go on working, and writing files, for nobody.
  lifetime.add(() => Promise.resolve(unwatch()));
  const unwatch = watchParent({ onGone: () => stop.abort() });
  // First in, last out: Ctrl-C while the agent ends must not end mm before it.
  lifetime.add(onInterruptSignal(() => stop.abort()));

  // The child can start as soon as the configuration is known: the rest is loaded meanwhile.
  const composing = import("./compose_asker.ts");
  const asking = questionOf(mode, io);
  const transcribing = mode.withContext ? readTranscript(io.env) : Promise.resolve(undefined);
  const loading = loadAgentConfig({ options: withCallingConfig(options, io.env), io }).then(
    (loaded) => {
      assertKnown(agent, loaded.config);
      return loaded;
    },
  );
  const preparing = Promise.all([asking, transcribing, loading, composing]);
  // A question that never comes must not keep mm from being left.
  await settledOrAborted(preparing, stop.signal);
  if (stop.signal.aborted) {
    const durationMs = Math.round(performance.now() - started);
    const nothing = { agent, end: { kind: "cancelled" }, answer: "", toolCalls: 0 } as const;
    if (options.json) io.out(jsonLine({ ...nothing, durationMs }));
    return EXIT.cancelled;
  }
  const [question, transcript, { config, cwd }, { composeAsker }] = await preparing;

  const renderer = createRenderer({
    screen: createScreen({ side: io.err }),
    paint: createPaint(io.terminal.stderrColor),
    verbose: options.verbose,
    cwd,
  });
  const asker = await composeAsker({
    config,
    env: io.env,
  });
  lifetime.add(() => asker.close());
  const result = await asker.ask({
    agent,
    prompt: question,
    ...(transcript === undefined ? {} : { transcript }),
    cwd,
    signal: AbortSignal.any([stop.signal, lifetime.signal]),
    emit: holdAnswer(renderer.event),
  });
  const exit = exitStatusOf(result.end);
  const outcome: AskOutcome = { ...result, agent };
  if (options.json) io.out(jsonLine(outcome));
  else printAnswer(result.answer, io);
  renderer.endTurn(result.end, agent);
  return exit;
}

/** Without `-config`, a command of mm's `bash` tool asks the agents of the mm that runs it. */
function withCallingConfig(options: ModeOptions, env: Io["env"]): ModeOptions {
  const calling = env["MM_CONFIG"] ?? "";
  const chosen = options.config !== undefined || options.defaults;
  return chosen || calling === "" ? options : { ...options, config: calling };
}

/** A terminal gets no escapes of the agent; a script gets the answer as it is, and one newline. */
function printAnswer(answer: string, io: Io): void {
  const text = (io.terminal.stdoutIsTerminal ? safeText(answer) : answer).replace(/\n+$/u, "");
  if (text !== "") io.out(`${text}\n`);
}

async function questionOf(
  mode: ModeOptionsOf<"ask">["mode"],
  io: Io,
): Promise<string> {
  if (mode.question !== undefined) return mode.question;
  const name = mode.withContext ? "--ask-with-context" : "--ask";
  if (io.terminal.stdinIsTerminal) {
    throw new UsageError(
      `${name} ${mode.agent} needs a question: give it in quotes behind the name, or on stdin`,
    );
  }
  return await readStdin("question");
}

function assertKnown(agent: string, config: AgentConfig): void {
  const names = config.agents.map(({ name }) => name);
  if (names.includes(agent)) return;
  if (names.length === 0) {
    const where = config.file === undefined ? "There is no configuration" : `"${config.file}" has`;
    throw new UsageError(
      `Cannot ask "${agent}": ${where}${
        config.file === undefined ? ", so there is nobody to ask" : " no agents"
      }; name agents under mmConfigs in agent.yaml`,
    );
  }
  throw new UsageError(
    `Cannot ask "${agent}": the agents of "${config.file ?? "the configuration"}" are ${
      names.join(", ")
    }${didYouMean(agent, names)}`,
  );
}

/** Reads the transcript of the conversation that runs this command. */
async function readTranscript(env: Io["env"]): Promise<string> {
  const path = env["MM_TRANSCRIPT"] ?? "";
  const otherwise = "use --ask, or run it from a command of mm's bash tool";
  if (path === "") {
    throw new UsageError(
      `--ask-with-context has no transcript to send: MM_TRANSCRIPT is not set; ${otherwise}`,
    );
  }
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
    const why = code === "ENOENT" ? "it does not exist" : code;
    throw new UsageError(
      `Cannot read the transcript "${path}" of MM_TRANSCRIPT: ${why}; ${otherwise}`,
      { cause },
    );
  }
  if (bytes.length > MAX_STDIN_BYTES) {
    throw new UsageError(
      `The transcript "${path}" has ${bytes.length} bytes, more than the ${MAX_STDIN_BYTES} allowed`,
    );
  }
  return new TextDecoder().decode(bytes);
}
