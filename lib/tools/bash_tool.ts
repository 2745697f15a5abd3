/**
 * `bash`: a command line.
 *
 * @module
 */
import { z } from "zod";
import { cutMiddle } from "../base/cut.ts";
import { messageOf } from "../base/errors.ts";
import type { CommandResult } from "../platform/process.ts";
import { quietEnvironment } from "./bash_environment.ts";
import { cleanOutput } from "./clean_output.ts";
import { defineTool } from "./define_tool.ts";
import { FileProblem } from "./file_problem.ts";
import type { ToolContext } from "./tool.ts";
import { visibleCommand } from "./visible_command.ts";

const DESCRIPTION =
  "Runs a bash command in the working directory; each call starts afresh there. No stdin, no pagers, no editors. Returns stdout and stderr together, then the exit status. At the timeout the command ends with all it started; with & a process goes on after the call. To work with files prefer the other tools.";

/** Room kept for the notice inside the output that says what was left out, and for the last lines. */
const FACTS_ROOM = 600;

/** Background processes whose ids are told. */
const MAX_PIDS_TOLD = 20;

/** Runs a command line. */
export const bashTool = defineTool({
  name: "bash",
  kind: "execute",
  description: DESCRIPTION,
  schema: z.object({
    command: z.string(),
    timeout: z.number().min(0).optional().describe("seconds"),
    description: z.string().optional().describe("what it does, a few words"),
  }),
  gated: true,
  parallel: false,
  preview: (input) => ({ title: visibleCommand(input.command) }),
  run: async (input, context) => {
    if (input.command.trim() === "") throw new FileProblem('Cannot run "command": it is empty');
    if (input.command.includes("\0")) {
      throw new FileProblem('Cannot run "command": it contains a NUL character');
    }
    const budget = budgetOf(input.timeout, context);
    const result = await runCommand(input.command, budget.ms, context);
    const facts = [...factsOf(result, budget.ms, context), ...budget.notes];
    const last = `[${facts.join("; ")}]`;
    const output = cleanOutput(result.output).replace(/\n+$/u, "");
    const room = Math.max(0, context.maxOutput - last.length - 1);
    return {
      ok: !result.timedOut && result.end.code === 0,
      text: output === "" ? `[no output] ${last}` : `${cutMiddle(output, room).text}\n${last}`,
      exit: result.end,
    };
  },
});

function budgetOf(seconds: number | undefined, context: ToolContext) {
  // Zero is what some models write for "the default".
  if (seconds === undefined || seconds === 0) return { ms: context.bashTimeoutMs, notes: [] };
  const ms = Math.ceil(seconds * 1000);
  if (ms <= context.bashTimeoutMaxMs) return { ms, notes: [] };
  const most = inSeconds(context.bashTimeoutMaxMs);
  return {
    ms: context.bashTimeoutMaxMs,
    notes: [`the timeout of ${seconds} s was lowered to ${most}, the most that is allowed`],
  };
}

async function runCommand(
  command: string,
  timeoutMs: number,
  context: ToolContext,
): Promise<CommandResult> {
  const env = quietEnvironment(await context.commandEnv());
  context.signal.throwIfAborted();
  const resumeWatchdog = context.pauseWatchdog();
  try {
    return await context.commands.run(command, {
      cwd: context.cwd,
      env,
      signal: context.signal,
      timeoutMs,
      keep: Math.max(0, context.maxOutput - FACTS_ROOM),
      onOutput: context.output,
    });
  } catch (error) {
    context.signal.throwIfAborted();
    const why = messageOf(error);
    const text = why.startsWith("Cannot ") ? why : `Cannot run the command: ${why}`;
    throw new FileProblem(text, { cause: error });
  } finally {
    resumeWatchdog();
  }
}

function factsOf(result: CommandResult, timeoutMs: number, context: ToolContext): string[] {
  const facts = [howItEnded(result, timeoutMs, context)];
  if (result.background.length > 0) {
    const told = result.background.slice(0, MAX_PIDS_TOLD).join(", ");
    const more = result.background.length > MAX_PIDS_TOLD ? ", ..." : "";
    facts.push(`still running in the background, until the session ends: ${told}${more}`);
  }
  return facts;
}

function howItEnded(result: CommandResult, timeoutMs: number, context: ToolContext): string {
  if (result.timedOut) {
    const longer = timeoutMs < context.bashTimeoutMaxMs
      ? `; timeout may be up to ${inSeconds(context.bashTimeoutMaxMs)}`
      : "";
    return `timed out after ${inSeconds(timeoutMs)}, ended with all it started${longer}`;
  }
  if (result.end.signal !== null) return `killed by ${result.end.signal}`;
  return `exit status ${result.end.code ?? "unknown"}`;
}

function inSeconds(ms: number): string {
  return `${Number((ms / 1000).toFixed(1))} s`;
}
