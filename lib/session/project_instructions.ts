/**
 * The project's own instructions: the file `AGENTS.md` of the directory a conversation works in.
 *
 * It is read once for each conversation, because a system prompt that changes in between makes a
 * local server read the whole history again. It is never cut: the one rule that counts may stand in
 * its last line. What is left out is left out whole, and said.
 *
 * @module
 */
import { realpath, stat } from "node:fs/promises";
import { isAbsolute, resolve } from "node:path";
import { isWithin } from "../base/is_within.ts";
import { AGENTS_MD } from "../config/agents_md_keys.ts";
import { readTextFile } from "../config/text_file.ts";
import type { AgentConfig } from "../config/types.ts";
import { CHARACTERS_PER_TOKEN } from "../engine/estimate.ts";

/** Largest file that is read at all, in bytes: more than any model's window holds. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Share of the window from which on the person is warned. */
const WARNING_SHARE = 0.2;

/** Something the person should know about the file. */
export interface InstructionsNotice {
  readonly severity: "info" | "warning";
  readonly text: string;
}

/** What came of reading. */
export interface ProjectInstructions {
  /** What is added to the system prompt: heading and text. Absent when nothing was read. */
  readonly section?: string;
  /** What is the case, in one line, for the banner and `/status`; empty when there is no file. */
  readonly state: string;
  /** What has to be said when the conversation begins. */
  readonly notices: readonly InstructionsNotice[];
  /** Returns the warning that a window of so many tokens calls for, where it does. */
  readonly windowWarning: (window: number) => string | undefined;
}

/** Options of {@linkcode readProjectInstructions}. */
export interface ReadProjectInstructionsOptions {
  /** The session's working directory, absolute. Nothing above or below it is looked at. */
  readonly cwd: string;
  readonly config: Pick<AgentConfig, "agentsMd" | "structuredOutput">;
  /** The model's window in tokens, where it is known already. */
  readonly window: number | undefined;
}

/**
 * Reads the project's instructions. Called whenever a conversation begins: a new session, `/new`, a
 * resumed or loaded one. Never rejects and never waits for a pipe or a device.
 */
export async function readProjectInstructions(
  options: ReadProjectInstructionsOptions,
): Promise<ProjectInstructions> {
  const { cwd, config, window } = options;
  const { enabled, maxChars } = config.agentsMd;
  if (!enabled) return nothing("off: agentsMd.enabled is false");
  const path = resolve(cwd, config.agentsMd.path);
  const file = `"${onOneLine(path)}"`;
  if (config.structuredOutput !== undefined) {
    if (!await exists(path)) return nothing("");
    return nothing(`${file} is not read: this agent answers with JSON only`, "info");
  }
  const read = await readTextFile(path, { maxBytes: MAX_BYTES });
  if (read.kind === "absent") {
    // Most projects have none; a path that somebody chose was meant to lead to something.
    return config.agentsMd.path === AGENTS_MD
      ? nothing("")
      : nothing(`no project instructions: there is no file ${file}`, "info");
  }
  if (read.kind === "unusable") {
    const line = read.line === undefined ? "" : ` (line ${read.line})`;
    return nothing(`${file} is left out: it ${read.reason}${line}`, "warning");
  }
  // Windows' ends of lines cost tokens and mean nothing.
  const text = read.text.replaceAll("\r\n", "\n");
  if (text.includes("\0")) {
    return nothing(`${file} is left out: it holds NUL characters, so it is no text`, "warning");
  }
  if (text.trim() === "") return nothing(`${file} is empty`, "info");
  const characters = [...text].length;
  if (maxChars > 0 && characters > maxChars) {
    return nothing(
      `${file} is left out: it has ${characters} characters, more than the ${maxChars} of ` +
        "agentsMd.maxChars",
      "warning",
    );
  }
  const windowWarning = warningFor(text, file);
  const warning = window === undefined ? undefined : windowWarning(window);
  const link = await linkNotice(cwd, config.agentsMd.path, path);
  return {
    section: `PROJECT INSTRUCTIONS (from ${onOneLine(path)})\n\n${text}`,
    state: `${file}, ${characters} characters, about ${
      Math.ceil(text.length / CHARACTERS_PER_TOKEN)
    } tokens`,
    notices: [
      ...(link === undefined ? [] : [{ severity: "info", text: link } as const]),
      ...(warning === undefined ? [] : [{ severity: "warning", text: warning } as const]),
    ],
    windowWarning,
  };
}

function nothing(state: string, severity?: "info" | "warning"): ProjectInstructions {
  return {
    state,
    notices: severity === undefined
      ? []
      : [{ severity, text: state.charAt(0).toUpperCase() + state.slice(1) }],
    windowWarning: () => undefined,
  };
}

function warningFor(text: string, file: string): (window: number) => string | undefined {
  const tokens = text.length / CHARACTERS_PER_TOKEN;
  return (window) => {
    if (tokens < window * WARNING_SHARE) return undefined;
    const percent = Math.floor((tokens / window) * 100);
    return `${file} takes about ${
      Math.ceil(tokens)
    } tokens of every request, ${percent} % of the ` +
      `model's window of ${window} tokens; shorten it, or leave it out with agentsMd.enabled`;
  };
}

/** A link that leads out of the project is followed, and seen. */
async function linkNotice(
  cwd: string,
  configured: string,
  path: string,
): Promise<string | undefined> {
  if (isAbsolute(configured) || !isWithin(cwd, path)) return undefined;
  try {
    const [home, real] = await Promise.all([realpath(cwd), realpath(path)]);
    if (isWithin(home, real)) return undefined;
    return `"${onOneLine(path)}" is a link to "${onOneLine(real)}", which is read`;
  } catch {
    // Gone since it was read: what was read counts.
    return undefined;
  }
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(() => true, () => false);
}

/** A directory's name may hold anything; a heading is one line. */
function onOneLine(path: string): string {
  return path.toWellFormed().replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, "\ufffd");
}
