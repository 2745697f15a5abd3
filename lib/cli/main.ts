/**
 * The program: reads the command line, runs its mode, ends the process with its status. What a mode
 * needs is loaded when it runs, so that `-version`, `-help` and wrong command lines answer at once.
 *
 * @module
 */
import process from "node:process";
import { EXIT } from "../base/ends.ts";
import { messageOf, UsageError, UserError } from "../base/errors.ts";
import { exitProcess } from "../platform/exit.ts";
import { writeText } from "../platform/output.ts";
import { installShutdown } from "../platform/shutdown.ts";
import { terminalInfo } from "../platform/terminal.ts";
import { type CommandLine, parseCommandLine } from "./command_line.ts";
import { createLifetime, type Io, type Lifetime } from "./mode.ts";

/** Milliseconds in which everything has to be ended after a signal. */
const SHUTDOWN_MS = 1800;

/**
 * Runs mm with the words of the command line and ends the process.
 *
 * @param args the words after the program's name.
 */
export async function runProgram(args: readonly string[]): Promise<never> {
  // What follows from an output that failed, a cancelled turn, would only hide the reason.
  let ended = false;
  const io: Io = {
    env: process.env,
    cwd: process.cwd(),
    terminal: terminalInfo({ env: process.env }),
    out: (text) => writeText("stdout", text),
    err: (text) => ended ? undefined : writeText("stderr", text),
  };
  // Losing stderr loses messages, not the work: also before anything else listens.
  process.stderr.on("error", () => {});
  const lifetime = createLifetime();
  let told = false;
  const onTold = () => {
    told = true;
    return lifetime.end();
  };
  let status: number;
  try {
    status = await run(parseCommandLine(args), {
      io,
      lifetime,
      onTold,
      onOutputFailure: (sentence) => {
        io.err(`mm: ${sentence}\n`);
        ended = true;
      },
    });
  } catch (thrown) {
    status = report(thrown, io);
  }
  await lifetime.end();
  // A process that was told to end does so with the status of the signal, or of the closed pipe: also
  // when its last words found nobody to read them, which it hears only now.
  if (told) return await new Promise<never>(() => {});
  return await exitProcess(status);
}

/** Says what went wrong and returns the exit status. */
export function report(thrown: unknown, io: Pick<Io, "env" | "err">): number {
  if (thrown instanceof UserError) {
    io.err(`mm: ${thrown.message}\n`);
    return thrown.exit;
  }
  io.err(`mm: Unexpected error: ${messageOf(thrown)}\n`);
  if (isDebug(io.env)) {
    io.err(`${thrown instanceof Error ? thrown.stack ?? "" : ""}\n`);
  } else {
    io.err("mm: Run it again with MM_LOG=debug to see where it comes from\n");
  }
  return EXIT.failed;
}

interface RunParts {
  readonly io: Io;
  readonly lifetime: Lifetime;
  /** Ends everything because something outside wants it. */
  readonly onTold: () => Promise<void>;
  /** Takes a sentence: why the output cannot be written. */
  readonly onOutputFailure: (sentence: string) => void;
}

async function run(line: CommandLine, parts: RunParts): Promise<number> {
  const { mode, options } = line;
  const { io, lifetime, onTold, onOutputFailure } = parts;
  // These modes take Ctrl-C themselves: it cancels the turn.
  const ownInterrupt = mode.kind === "line" || mode.kind === "prompt" || mode.kind === "ask";
  installShutdown({
    onShutdown: onTold,
    onOutputFailure,
    graceMs: SHUTDOWN_MS,
    signals: ownInterrupt ? ["SIGTERM", "SIGHUP"] : ["SIGTERM", "SIGHUP", "SIGINT"],
    // For a protocol, a reader that is gone is the end of the connection.
    ...(mode.kind === "acp" ? { closedOutputStatus: 0 } : {}),
  });
  switch (mode.kind) {
    case "version": {
      const { versionLine } = await import("./version_line.ts");
      io.out(`${versionLine()}\n`);
      return 0;
    }
    case "help": {
      const { helpText } = await import("./help.ts");
      io.out(helpText());
      return 0;
    }
    case "completions": {
      const { completionScript } = await import("./completions.ts");
      io.out(completionScript(mode.shell));
      return 0;
    }
    case "window":
      throw new UsageError(
        "This version of mm has no window; use -line to talk to the agent here, " +
          '-p "<prompt>" for one turn, or --ask <agent> to ask an agent; -demo shows mm at work ' +
          "without a model, -init writes a configuration, and -help lists all",
      );
  }
  const context = { options, io, lifetime };
  switch (mode.kind) {
    case "line":
      return await (await import("./line_mode.ts")).runLineMode({ ...context, mode });
    case "prompt":
      return await (await import("./prompt_mode.ts")).runPromptMode({ ...context, mode });
    case "ask":
      return await (await import("./ask_mode.ts")).runAskMode({ ...context, mode });
    case "acp":
      if (options.listen !== undefined) {
        return await (await import("./listen_mode.ts")).runListenMode({ ...context, mode });
      }
      return await (await import("./acp_mode.ts")).runAcpMode({ ...context, mode });
    case "check":
      return await (await import("./check_mode.ts")).runCheckMode({ ...context, mode });
    case "init":
      return await (await import("./init_mode.ts")).runInitMode({ ...context, mode });
    case "demo":
      return await (await import("./demo_mode.ts")).runDemoMode({ ...context, mode });
  }
}

function isDebug(env: Readonly<Record<string, string | undefined>>): boolean {
  return /\bdebug\b/u.test(env["MM_LOG"] ?? "");
}
