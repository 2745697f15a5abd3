/**
 * One tool call from the model's words to its result: find the tool, check the arguments, announce
 * the call, ask the gate, run.
 *
 * @module
 */
import { cutMiddle } from "../base/cut.ts";
import type { End } from "../base/ends.ts";
import { messageOf } from "../base/errors.ts";
import { didYouMean } from "../base/nearest.ts";
import type { ToolCallRequest, ToolCallView } from "../base/tool_call.ts";
import type { Gate } from "../gate/gate.ts";
import type { ToolDeclaration } from "../model/types.ts";
import type { Tool, ToolContext, ToolResult } from "../tools/tool.ts";
import type { Emit } from "./events.ts";
import type { Watchdog } from "./watchdog.ts";

/** What every call of a turn shares. */
export interface CallEnvironment extends
  Pick<
    ToolContext,
    | "cwd"
    | "maxOutput"
    | "bashTimeoutMs"
    | "bashTimeoutMaxMs"
    | "commandEnv"
    | "files"
    | "commands"
    | "askUser"
  > {
  readonly tools: readonly Tool[];
  /** What the model is told in place of the tools' own declarations; absent where it is those. */
  readonly declared?: readonly ToolDeclaration[];
  /** Why a tool may not run, for the model: the call is then neither read nor asked about. */
  readonly barred?: (name: string) => string | undefined;
  /** Why a tool that exists is not offered here, for a model that calls it all the same. */
  readonly withheld?: (name: string) => string | undefined;
  readonly gate: Gate;
  readonly yolo: () => boolean;
  readonly emit: Emit;
  readonly watchdog: Watchdog;
  readonly signal: AbortSignal;
}

/** What a call gave. */
export interface CallOutcome {
  /** For the model. */
  readonly text: string;
  readonly ok: boolean;
  readonly end?: End;
  /** The call could not run at all: there is no such tool, or its arguments are wrong. */
  readonly wrong?: boolean;
  /** The call is one that may not run. */
  readonly barred?: boolean;
}

/**
 * Runs one call and returns its result; a failure is a result that tells the model what to do.
 * `onRunning` is told the call while it runs, and `undefined` when it is over.
 *
 * @throws the signal's reason when the turn was cancelled; the call was then shown as failed.
 */
export async function runCall(
  request: ToolCallRequest,
  environment: CallEnvironment,
  onRunning: (call: ToolCallView | undefined) => void,
): Promise<CallOutcome> {
  const { tools, declared, emit, signal } = environment;
  const id = `call_${crypto.randomUUID()}`;
  const tool = namedIn(request.name, tools);
  const declaration = tool ?? namedIn(request.name, declared ?? []);
  if (declaration !== undefined) {
    const { name } = declaration;
    const barred = environment.barred?.(name);
    if (barred !== undefined) {
      const call = { id, name, title: `${name} may not run here`, input: request.arguments };
      const text = `Not run: ${barred}. ${AFTER_REFUSAL}`;
      return { ...announceFailure(emit, call, text), wrong: false, barred: true };
    }
  }
  if (tool === undefined) return missing(request, declaration, { id, environment });
  const parsed = parseArguments(tool, request.arguments);
  if ("error" in parsed) {
    return announceFailure(
      emit,
      {
        id,
        name: tool.name,
        title: `wrong arguments for ${tool.name}`,
        input: request.arguments,
      },
      `Wrong arguments for ${tool.name}: ${parsed.error}`,
    );
  }
  const { input } = parsed;
  const preview = await tool.preview(input, { cwd: environment.cwd, files: environment.files });
  const view: ToolCallView = { id, name: tool.name, kind: tool.kind, input, ...preview };
  emit({ type: "tool_call", call: view });
  let result: ToolResult;
  try {
    const refusal = await askGate(tool, view, environment);
    if (refusal !== undefined) {
      const text = `Not run: ${refusal}`;
      emit({ type: "tool_update", callId: id, status: "failed", text });
      // The person decided, or knows who did; only the model has to be told what follows.
      return {
        ok: false,
        text: cutMiddle(`${text}. ${AFTER_REFUSAL}`, environment.maxOutput).text,
      };
    } else {
      emit({ type: "tool_update", callId: id, status: "in_progress" });
      onRunning(view);
      result = await run(tool, input, { view, request }, environment);
    }
  } catch (thrown) {
    const text = signal.aborted ? "Cancelled" : `${tool.name} failed: ${messageOf(thrown)}`;
    emit({ type: "tool_update", callId: id, status: "failed", text });
    if (signal.aborted) throw signal.reason;
    return { ok: false, text };
  } finally {
    onRunning(undefined);
  }
  emit({
    type: "tool_update",
    callId: id,
    status: result.ok ? "completed" : "failed",
    text: result.text,
    ...(result.diffs === undefined ? {} : { diffs: result.diffs }),
    ...(result.locations === undefined ? {} : { locations: result.locations }),
    ...(result.exit === undefined ? {} : { exit: result.exit }),
  });
  return {
    // Tools keep to the limit themselves; this holds it for all of them.
    text: cutMiddle(result.text, environment.maxOutput).text,
    ok: result.ok,
    ...(result.end === undefined ? {} : { end: result.end }),
  };
}

const AFTER_REFUSAL = "Do not try it again in another way; go on without it or say what you need.";

/** Tells the model that what it called is not there. */
function missing(
  { name, arguments: input }: ToolCallRequest,
  declaration: ToolDeclaration | undefined,
  options: { readonly id: string; readonly environment: CallEnvironment },
): CallOutcome {
  const { id, environment: { tools, declared, withheld, emit } } = options;
  const why = withheld?.(name);
  if (why !== undefined) {
    const title = `${name} is not offered here`;
    return announceFailure(emit, { id, name, title, input }, `Not run: ${why}`);
  }
  if (declaration !== undefined) {
    const title = `${name} is not there`;
    return announceFailure(
      emit,
      { id, name: declaration.name, title, input },
      `Not run: the tool "${declaration.name}" is declared, but whatever provides it is not there ` +
        "in this session. Go on without it or say what you need.",
    );
  }
  const names = (declared ?? tools).map((candidate) => candidate.name);
  return announceFailure(
    emit,
    { id, name, title: `unknown tool "${name}"`, input },
    `There is no tool "${name}", only ${names.join(", ")}${didYouMean(name, names)}`,
  );
}

/** Returns the tool of a name; `Bash` is `bash`, where no other tool is meant. */
export function namedIn<Named extends { readonly name: string }>(
  name: string,
  tools: readonly Named[],
): Named | undefined {
  const exact = tools.find((tool) => tool.name === name);
  if (exact !== undefined) return exact;
  const alike = tools.filter((tool) => tool.name.toLowerCase() === name.trim().toLowerCase());
  return alike.length === 1 ? alike[0] : undefined;
}

function parseArguments(tool: Tool, text: string): { input: unknown } | { error: string } {
  let raw: unknown;
  try {
    raw = text.trim() === "" ? {} : JSON.parse(text);
  } catch (thrown) {
    return { error: `they are not valid JSON (${messageOf(thrown)}). Send the call again.` };
  }
  return tool.parse(raw ?? {});
}

/** Asks the gate; returns why the call may not run, or `undefined`. */
async function askGate(
  tool: Tool,
  view: ToolCallView,
  environment: CallEnvironment,
): Promise<string | undefined> {
  const { gate, watchdog, signal } = environment;
  const resume = watchdog.pause();
  try {
    const decision = await gate.decide(
      { view, agent: "", gated: tool.gated, yolo: environment.yolo(), cwd: environment.cwd },
      { signal },
    );
    if (decision.allowed) return undefined;
    if (decision.why === "cancelled") throw signal.reason ?? new Error(decision.reason);
    return decision.reason;
  } finally {
    resume();
  }
}

async function run(
  tool: Tool,
  input: unknown,
  { view, request }: { readonly view: ToolCallView; readonly request: ToolCallRequest },
  environment: CallEnvironment,
): Promise<ToolResult> {
  const { watchdog, emit, signal } = environment;
  const context: ToolContext = {
    cwd: environment.cwd,
    signal,
    callId: view.id,
    requestId: request.id,
    maxOutput: environment.maxOutput,
    bashTimeoutMs: environment.bashTimeoutMs,
    bashTimeoutMaxMs: environment.bashTimeoutMaxMs,
    commandEnv: environment.commandEnv,
    files: environment.files,
    commands: environment.commands,
    output: (text, options) => {
      watchdog.touch();
      emit({
        type: "tool_output",
        callId: view.id,
        text,
        ...(options?.thought === true ? { thought: true } : {}),
      });
    },
    alive: () => watchdog.touch(),
    pauseWatchdog: () => watchdog.pause(),
    plan: (entries) => emit({ type: "plan", entries }),
    ...(environment.askUser === undefined ? {} : { askUser: environment.askUser }),
  };
  const result = await tool.run(input, context);
  if (result.toldIfCancelled !== true) signal.throwIfAborted();
  return result;
}

function announceFailure(
  emit: Emit,
  call: {
    readonly id: string;
    readonly name: string;
    readonly title: string;
    readonly input: string;
  },
  text: string,
): CallOutcome {
  emit({
    type: "tool_call",
    call: { ...call, kind: "other" },
  });
  emit({ type: "tool_update", callId: call.id, status: "failed", text });
  return { ok: false, wrong: true, text };
}
