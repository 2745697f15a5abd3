/**
 * `mm -line`: the agent in a scrolling terminal, or driven through a pipe.
 *
 * @module
 */
import process from "node:process";
import type { EngineEvent } from "../engine/events.ts";
import type { Session } from "../session/types.ts";
import { bannerText } from "./banner.ts";
import { beginSession } from "./begin_session.ts";
import { createInterrupts, onInterruptSignal } from "./interrupt.ts";
import { createPipeInput, type LineInput } from "./line_input.ts";
import { loadAgentConfig } from "./load_agent_config.ts";
import type { Io, ModeOptionsOf } from "./mode.ts";
import { createPaint } from "./paint.ts";
import { createPermissionAsker } from "./permission_asker.ts";
import { PromptLine } from "./prompt_line.ts";
import { CurrentTask, runPromptLoop } from "./prompt_loop.ts";
import { createQuestionCommands } from "./question_commands.ts";
import { createRenderer } from "./render.ts";
import { createScreen } from "./screen.ts";
import { createUserAsker } from "./user_asker.ts";

const PROMPT = "> ";

/** Events that may end in the middle of a line; they come in turns only. */
const STREAMS: ReadonlySet<EngineEvent["type"]> = new Set(["text", "thought", "tool_output"]);

/** Runs line mode until it is left. Returns the exit status. */
export async function runLineMode(
  { options, io, lifetime }: ModeOptionsOf<"line">,
): Promise<number> {
  const composing = import("./compose.ts");
  const { config, cwd } = await loadAgentConfig({ options, io });
  const paint = createPaint(io.terminal.stdoutColor);
  let line: PromptLine | undefined;
  // Whole lines stand above a line that is being typed; pieces of an answer come where nothing is.
  let whole = false;
  const renderer = createRenderer({
    screen: createScreen({
      side: (text) => {
        if (whole && line !== undefined) line.above(() => io.out(text));
        else io.out(text);
      },
    }),
    paint,
    verbose: options.verbose,
    cwd,
  });
  const show = (event: EngineEvent) => {
    const write = () => {
      whole = !STREAMS.has(event.type);
      renderer.event(event);
      whole = false;
    };
    if (line === undefined) write();
    else line.show(write);
  };
  const { composeHost } = await composing;
  const host = await composeHost({
    config,
    env: io.env,
    onNotice: (text) => show({ type: "notice", severity: "warning", text }),
  });

  const leaving = new AbortController();
  const leave = () => leaving.abort();
  lifetime.signal.addEventListener("abort", leave, { once: true });
  const task = new CurrentTask(lifetime.signal);
  const quit = () => {
    task.cancel();
    leave();
  };
  const interrupt = createInterrupts({
    onFirst: () => {
      if (task.cancel() || leaving.signal.aborted) return;
      line?.above(() => renderer.lines(paint.dim("Ctrl-C again or Ctrl-D leaves")));
    },
    onSecond: quit,
  });
  // First in, last out: Ctrl-C while the host closes must not end mm before what it started.
  lifetime.add(onInterruptSignal(interrupt));
  lifetime.add(() => host.close());
  let session: Session | undefined;
  const input = await openInput({ io, session: () => session, interrupt });
  lifetime.add(() => Promise.resolve(input.close()));

  try {
    const prompts = new PromptLine({ input, prompt: PROMPT });
    line = prompts;
    // What the session says at its beginning belongs below the banner.
    let early: EngineEvent[] | undefined = [];
    const emit = (event: EngineEvent) =>
      void (early === undefined ? show(event) : early.push(event));
    const commands = createQuestionCommands({
      session: () => session,
      line,
      renderer,
      paint,
      leave: quit,
    });
    const askPermission = createPermissionAsker({
      input,
      renderer,
      paint,
      commands,
      leaving: leaving.signal,
    });
    const askUser = createUserAsker({ input, renderer, paint });
    session = await beginSession({
      host,
      saved: options.saved,
      session: {
        cwd,
        emit,
        // The question of a run in the background has nothing to do with the turn that goes on.
        askPermission: (question, options) =>
          prompts.ask(() => askPermission(question, options), {
            alone: question.taskId !== undefined,
          }),
        askUser: (question, options) =>
          prompts.ask(() => askUser(question, options), { alone: false }),
        replay: { how: "compact", show: emit },
      },
    });
    const { yolo, instructions } = session;
    renderer.lines(bannerText({ host, cwd, yolo, instructions, paint }));
    for (const event of early) renderer.event(event);
    early = undefined;
    renderer.endTurn({ kind: "answered" });
    await runPromptLoop({
      session,
      line,
      renderer,
      task,
      ...(options.saved?.kind === "list" ? { first: "/sessions" } : {}),
      leaving: leaving.signal,
      typed: io.terminal.stdinIsTerminal,
      endLine: () => io.out("\n"),
    });
    return 0;
  } finally {
    lifetime.signal.removeEventListener("abort", leave);
    leave();
    input.close();
  }
}

async function openInput(
  { io, session, interrupt }: {
    readonly io: Io;
    readonly session: () => Session | undefined;
    readonly interrupt: () => void;
  },
): Promise<LineInput> {
  const { terminal, env } = io;
  if (terminal.stdinIsTerminal && terminal.stdoutIsTerminal && env["TERM"] !== "dumb") {
    const { createTerminalInput } = await import("./terminal_input.ts");
    return createTerminalInput({
      stdin: process.stdin,
      stdout: process.stdout,
      complete: (line) => completionsOf(line, session()?.commands ?? [], session()?.background.ids),
      onInterrupt: interrupt,
    });
  }
  return createPipeInput({
    input: process.stdin,
    show: io.out,
    // A terminal shows what is typed; the output of a pipe has to show it itself to be readable.
    echo: (line) => terminal.stdinIsTerminal ? undefined : io.out(`${line}\n`),
  });
}

/** Returns the slash commands that a line may become; behind `/tasks`, with the ids of runs. */
export function completionsOf(
  line: string,
  commands: Session["commands"],
  ids: readonly string[] = [],
): string[] {
  const [, before] = /^(\/tasks (?:stop |tell )?)\S*$/u.exec(line) ?? [];
  if (before !== undefined) {
    const words = before === "/tasks " ? ["stop ", "tell ", ...ids] : ids;
    return words.map((word) => before + word).filter((command) => command.startsWith(line));
  }
  if (!/^\/\S*$/u.test(line)) return [];
  return commands.map(({ name, hint }) => `/${name}${hint === undefined ? "" : " "}`)
    .filter((command) => command.startsWith(line));
}
