/**
 * `mm -p`: one turn, and those that follow from what it started in the background. The answer goes to
 * stdout, everything else to stderr.
 *
 * @module
 */
import process from "node:process";
import { exitStatusOf } from "../base/ends.ts";
import type { AskPermission } from "../gate/question.ts";
import type { CreateSessionOptions } from "../session/types.ts";
import { beginSession } from "./begin_session.ts";
import { subagents } from "./deliveries.ts";
import { finishTurns } from "./finish_turns.ts";
import { gatherOutput } from "./gathered_output.ts";
import { onInterruptSignal } from "./interrupt.ts";
import { createAnswerInput } from "./line_input.ts";
import { createLastAnswer } from "./last_answer.ts";
import { loadAgentConfig } from "./load_agent_config.ts";
import type { ModeOptionsOf } from "./mode.ts";
import { oneAtATime } from "./one_at_a_time.ts";
import { createPaint, type Paint } from "./paint.ts";
import { createPermissionAsker } from "./permission_asker.ts";
import { readStdin } from "./read_stdin.ts";
import { createRenderer, type Renderer } from "./render.ts";
import { safeText } from "./safe_text.ts";
import { createScreen } from "./screen.ts";
import { createUserAsker } from "./user_asker.ts";

const NOBODY = "nobody is there to answer a permission question";

const refuse: AskPermission = ({ mustAsk }) =>
  Promise.resolve({
    kind: "unavailable",
    reason: mustAsk === undefined
      ? `${NOBODY}: use -yolo, or allow the call with permissions.allow in the configuration`
      : `${mustAsk} wants a person, and ${NOBODY}: run mm at a terminal, or take the rule out; ` +
        "neither -yolo nor permissions.allow changes it",
  });

/** Runs the prompt to its end. Returns the exit status, which is that of the last turn. */
export async function runPromptMode(
  { mode, options, io, lifetime }: ModeOptionsOf<"prompt">,
): Promise<number> {
  const { terminal } = io;
  const composing = import("./compose.ts");
  const text = typeof mode.prompt === "string" ? mode.prompt : await readStdin("prompt");
  const { config, cwd } = await loadAgentConfig({ options, io });
  const paint = createPaint(terminal.stderrColor);
  const gathered = gatherOutput(io);
  const renderer = createRenderer({
    screen: createScreen({
      side: gathered.err,
      answer: gathered.out,
      shared: terminal.stdoutIsTerminal && terminal.stderrIsTerminal,
    }),
    paint,
    rawAnswer: !terminal.stdoutIsTerminal,
    verbose: options.verbose,
    cwd,
  });
  let active = () => 0;
  // A person sees every turn as it goes; a script wants the last one's answer.
  const answer = createLastAnswer({
    show: renderer.event,
    aside: (said) => renderer.lines(safeText(said)),
    working: () => active() > 0,
  });
  const emit = terminal.stdoutIsTerminal ? renderer.event : answer.event;
  const { composeHost } = await composing;
  const host = await composeHost({
    config,
    env: io.env,
    onNotice: (notice) => renderer.event({ type: "notice", severity: "warning", text: notice }),
  });
  const turn = new AbortController();
  // First in, last out: Ctrl-C while the host closes must not end mm before what it started.
  lifetime.add(onInterruptSignal(() => turn.abort()));
  lifetime.add(() => Promise.resolve(gathered.flush()));
  lifetime.add(() => host.close());
  // A prompt that came from stdin leaves nothing to answer with.
  const someone = terminal.stdinIsTerminal && terminal.stderrIsTerminal &&
    typeof mode.prompt === "string";
  const session = await beginSession({
    host,
    saved: options.saved,
    session: {
      cwd,
      emit,
      headless: true,
      ...(someone ? askAt({ renderer, paint, show: gathered.err }) : { askPermission: refuse }),
    },
  });
  active = () => session.background.active;
  const signal = AbortSignal.any([turn.signal, lifetime.signal]);
  const end = await finishTurns({
    session,
    text,
    signal,
    onTurn: renderer.endTurn,
    onFollowed: answer.followed,
    onWait: (active) => renderer.lines(paint.dim(`Waiting for ${subagents(active)}`)),
  });
  answer.end();
  renderer.endTurn({ kind: "answered" });
  gathered.flush();
  return exitStatusOf(end);
}

/** Puts questions to the person at the terminal, one after the other. */
function askAt(
  { renderer, paint, show }: {
    readonly renderer: Renderer;
    readonly paint: Paint;
    readonly show: (text: string) => void;
  },
): Pick<CreateSessionOptions, "askPermission" | "askUser"> {
  const input = createAnswerInput({ input: process.stdin, show });
  const inTurn = oneAtATime();
  const askPermission = createPermissionAsker({ input, renderer, paint });
  const askUser = createUserAsker({ input, renderer, paint });
  return {
    askPermission: (question, options) => inTurn(() => askPermission(question, options)),
    askUser: (question, options) => inTurn(() => askUser(question, options)),
  };
}
