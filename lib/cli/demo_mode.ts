/**
 * `mm -demo`: the three ways to ask another agent, and a subagent, with real processes and the real
 * protocol, and a script in place of a model.
 *
 * @module
 */
import { spawn } from "node:child_process";
import process from "node:process";
import { messageOf } from "../base/errors.ts";
import { loadConfig } from "../config/load.ts";
import type { AskPermission, PermissionAnswer } from "../gate/question.ts";
import { selfCommand } from "../platform/runtime.ts";
import type { Session } from "../session/types.ts";
import { composeHost } from "./compose.ts";
import { agentProcesses } from "./demo_processes.ts";
import { createDemoProject, DEMO_FACT, type DemoProject } from "./demo_project.ts";
import { createAnswerInput } from "./line_input.ts";
import type { Io, ModeOptionsOf } from "./mode.ts";
import { createPaint, type Paint } from "./paint.ts";
import { createPermissionAsker } from "./permission_asker.ts";
import { questionText } from "./permission_text.ts";
import { createRenderer, type Renderer } from "./render.ts";
import { safeText } from "./safe_text.ts";
import { createScreen } from "./screen.ts";

/** How long the spawned `mm --ask` may take, in milliseconds. */
const SCRIPT_MS = 60_000;

interface Stage {
  readonly io: Io;
  readonly paint: Paint;
  readonly renderer: Renderer;
  readonly project: DemoProject;
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** A question that was put, and what was answered. */
interface Asked {
  readonly name: string;
  readonly answer: PermissionAnswer["kind"];
}

/** Shows the three ways and a subagent. Returns the exit status: 0 when each of them worked as it was told to. */
export async function runDemoMode(
  { options, io, lifetime }: ModeOptionsOf<"demo">,
): Promise<number> {
  const project = await createDemoProject();
  lifetime.add(() => project.remove());
  const paint = createPaint(io.terminal.stdoutColor);
  const renderer = createRenderer({
    screen: createScreen({ side: io.out }),
    paint,
    verbose: options.verbose,
    cwd: project.directory,
  });
  const stage: Stage = {
    io,
    paint,
    renderer,
    project,
    env: demoEnvironment(io.env),
    signal: lifetime.signal,
  };

  renderer.lines([
    paint.bold("mm -demo: one agent asks another"),
    "",
    "No model and no network is used: a small script answers in place of a model, and says [demo].",
    "Everything else is real: the engine, the tools, the questions, the processes, the protocol.",
    "",
    `The project is in ${project.directory}:`,
    "  agent.yaml  your agent, which may ask bob",
    "  bob.yaml    bob",
    "  notes.txt   a file that bob will read",
    "",
    `Your agent is this process, ${process.pid}. Bob does not run yet.`,
  ].join("\n"));

  const config = await loadConfig({
    file: project.config,
    cwd: project.directory,
    env: stage.env,
    configDir: project.directory,
  });
  const host = await composeHost({
    // The project is removed at the end, and with it all that could be gone on with.
    config: { ...config, sessions: { ...config.sessions, enabled: false } },
    env: stage.env,
    onNotice: (text) => renderer.event({ type: "notice", severity: "warning", text }),
  });
  lifetime.add(() => host.close());
  const asked: Asked[] = [];
  const session = await host.createSession({
    cwd: project.directory,
    emit: renderer.event,
    askPermission: permissionAsker(stage, asked),
  });

  const steps: [string, () => Promise<string | undefined>][] = [
    ["1. You ask bob", () => typedAsk(stage, session)],
    ["2. The model decides to ask bob", () => modelAsk(stage, session, asked)],
    ["3. A script asks bob", () => scriptAsk(stage)],
    ["4. The model hands a task to a subagent", () => delegated(stage, session, asked)],
  ];
  const failures: string[] = [];
  for (const [title, step] of steps) {
    renderer.lines(`\n${paint.bold(title)}`);
    const failure = await step().catch((thrown: unknown) => messageOf(thrown));
    if (lifetime.signal.aborted) return 1;
    if (failure !== undefined) {
      failures.push(title);
      renderer.lines(paint.red(`✗ This step did not work: ${safeText(failure)}`));
    }
  }

  await host.close();
  const left = await agentProcesses();
  const ids = left.map(({ pid }) => pid).join(", ");
  renderer.lines(
    left.length === 0
      ? "\nYour agent ends now, and all of them ended with it."
      : paint.red(`\n✗ These processes did not end: ${ids}`),
  );
  if (failures.length > 0 || left.length > 0) {
    renderer.lines(paint.red(`Not everything worked: ${[...failures, ...left].length} fault(s)`));
    return 1;
  }
  renderer.lines([
    "",
    paint.bold(
      `${asked.some(saysNo) ? "Those were all four." : "All four worked."} What to do next:`,
    ),
    "  mm -init    writes agent.yaml for the model server on this machine",
    "  mm -check   says whether the model and the agents work",
    "  mm -line    talks to your agent; name other agents under mmConfigs to ask them",
  ].join("\n"));
  return 0;
}

/** `/ask-bob`, as a person types it. */
async function typedAsk(stage: Stage, session: Session): Promise<string | undefined> {
  const { renderer, signal } = stage;
  renderer.lines(
    "You type a command. mm starts bob as a process of his own and talks to him over ACP.\n" +
      "His answer is shown under his name and kept, so that your model can use it later.\n",
  );
  const text = "/ask-bob read notes.txt";
  renderer.lines(`> ${text}`);
  const { end, text: answer } = await session.prompt({ text }, { signal });
  renderer.endTurn(end, "bob");
  await showProcesses(stage);
  if (end.kind !== "answered") return `bob's answer ended as "${end.kind}"`;
  return answer.includes(DEMO_FACT) ? undefined : "bob's answer lacks what the file says";
}

/** `ask_agent`, decided by the model and allowed by the person. */
async function modelAsk(
  stage: Stage,
  session: Session,
  asked: Asked[],
): Promise<string | undefined> {
  const { renderer } = stage;
  renderer.lines(
    "You ask your own agent. Its model calls the tool ask_agent; you see what it wants to ask and\n" +
      "decide. Bob then wants to run a command, and that is your decision too: his calls are named\n" +
      "bob/…, so what you allow your agent does not count for him.\n",
  );
  const turn = await modelTurn(stage, session, { asked, text: "ask bob to run cat notes.txt" });
  if (typeof turn === "string") return turn;
  const { answer, answers } = turn;
  const refused = answers.find(saysNo)?.name;
  if (refused !== undefined) {
    renderer.lines(
      refused === "ask_agent"
        ? "You said no, so bob was not asked. The model was told so and ended its turn."
        : "You said no, so bob's command did not run. He was told so and answered without it.",
    );
    return undefined;
  }
  const questions = answers.map(({ name }) => name).join(", ");
  if (questions !== "ask_agent, bob/bash") {
    return `the questions should be about ask_agent and bob/bash, but were about ${
      questions === "" ? "nothing" : questions
    }`;
  }
  return answer.includes(DEMO_FACT) ? undefined : "the answer lacks what the file says";
}

/** `mm --ask`, as a script calls it. */
async function scriptAsk(stage: Stage): Promise<string | undefined> {
  const { renderer, paint, project, env, signal } = stage;
  renderer.lines(
    "A script calls this program again. The answer alone goes to stdout, all else to stderr.\n",
  );
  const args = ["--ask", "bob", "read notes.txt"];
  renderer.lines('$ answer=$(mm --ask bob "read notes.txt")');
  const [program, ...first] = selfCommand();
  const child = spawn(program, [...first, ...args], {
    cwd: project.directory,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    signal: AbortSignal.any([signal, AbortSignal.timeout(SCRIPT_MS)]),
  });
  const out: string[] = [];
  const err: string[] = [];
  child.stdout.setEncoding("utf8").on("data", (text: string) => void out.push(text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => void err.push(text));
  const status = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  const marked = (name: string, text: string) =>
    safeText(text).trimEnd().split("\n").map((line) => paint.dim(`  ${name} │ `) + line);
  const [answer, rest] = [out.join(""), err.join("")];
  renderer.lines([
    ...(rest === "" ? [] : marked("stderr", rest)),
    ...(answer === "" ? [] : marked("stdout", answer)),
    `  exit status ${status}`,
  ].join("\n"));
  if (status !== 0) return `mm --ask ended with status ${status}`;
  return answer.includes(DEMO_FACT) ? undefined : "its answer lacks what the file says";
}

/** `agent`, decided by the model and allowed by the person. */
async function delegated(
  stage: Stage,
  session: Session,
  asked: Asked[],
): Promise<string | undefined> {
  const { renderer } = stage;
  renderer.lines(
    "A subagent is your agent once more, in a process of its own, with nothing but a task. It works\n" +
      "alone, and its report is the result of the call. This one, general-purpose, is always there.\n",
  );
  const turn = await modelTurn(stage, session, { asked, text: "delegate read notes.txt" });
  if (typeof turn === "string") return turn;
  if (turn.answers.some(saysNo)) {
    renderer.lines(
      "You said no, so no subagent was started. The model was told so and ended its turn.",
    );
    return undefined;
  }
  return turn.answer.includes(DEMO_FACT)
    ? undefined
    : "the subagent's report lacks what the file says";
}

/** Tells the model something; returns what it answered and what the person was asked, or a fault. */
async function modelTurn(
  stage: Stage,
  session: Session,
  { asked, text }: { readonly asked: readonly Asked[]; readonly text: string },
): Promise<{ readonly answer: string; readonly answers: readonly Asked[] } | string> {
  const { renderer, signal } = stage;
  renderer.lines(`> ${text}`);
  const before = asked.length;
  const { end, text: answer } = await session.prompt({ text }, { signal });
  renderer.endTurn(end);
  await showProcesses(stage);
  if (end.kind !== "answered") return `the turn ended as "${end.kind}"`;
  return { answer, answers: asked.slice(before) };
}

/** A person answers on a terminal; without one the demo does, and says so. */
function permissionAsker(stage: Stage, asked: Asked[]): AskPermission {
  const { io, renderer, paint } = stage;
  const ask: AskPermission = io.terminal.stdinIsTerminal && io.terminal.stdoutIsTerminal
    ? createPermissionAsker({
      input: createAnswerInput({ input: process.stdin, show: io.out }),
      renderer,
      paint,
    })
    : (question) => {
      renderer.lines(questionText(question, paint));
      renderer.lines("  (no terminal, so the demo answers for you: allow once)");
      return Promise.resolve({ kind: "allow_once" });
    };
  return async (question, options) => {
    const answer = await ask(question, options);
    asked.push({ name: question.call.name, answer: answer.kind });
    return answer;
  };
}

function saysNo({ answer }: Asked): boolean {
  return answer === "reject_once" || answer === "reject_session";
}

async function showProcesses({ renderer, paint }: Stage): Promise<void> {
  const agents = await agentProcesses();
  renderer.lines(paint.dim([
    `Processes now: ${process.pid} your agent`,
    ...agents.map(({ pid, args }) => `               ${pid} mm ${args.trim()}`),
  ].join("\n")));
}

/** Overrides that were meant for a real agent would make the demo another one. */
function demoEnvironment(env: Io["env"]): Record<string, string> {
  const own: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    const meantForAnother = name.startsWith("AGENT_") || name === "MM_ASK_DEPTH" ||
      name === "MM_CONFIG" || name === "MM_TRANSCRIPT";
    if (value !== undefined && !meantForAnother) own[name] = value;
  }
  return own;
}
