/**
 * The mode of an asked agent of another make. Who asks holds the permission, so the agent has to ask
 * for what it would do: it is put into the mode in which it does.
 *
 * @module
 */
import { ChildError } from "../agents/child_connection.ts";
import { oneLine } from "../base/cut.ts";
import { type Fields, fieldsOf, listOf, textOf } from "./fields.ts";

/**
 * Modes in which agents are known to ask, the best first: Claude Code, Gemini and Qwen call it
 * "default", mm "ask"; the "read-only" of Codex asks for every change.
 */
const ASKING = ["ask", "default", "manual", "read-only"];

/** Modes in which an agent changes nothing; one that begins there stays there. */
const HARMLESS = ["plan"];

/** Modes in which agents decide by themselves. */
const BYPASSING = /yolo|bypass|auto|full|accept|danger|unrestricted|trust|don.?t.?ask|never/iu;

/** What to send so that the agent asks. */
export interface ModeChoice {
  readonly mode: string;
  /** The option to set, where the agent tells its modes as an option only. */
  readonly option?: string;
}

interface Mode {
  readonly id: string;
  readonly name: string;
}

/**
 * Returns the mode to choose in a session, or `undefined` where nothing is to be changed.
 *
 * @param reply the answer that opened the session.
 * @throws {ChildError} when the agent is in a mode without questions, and offers none with.
 */
export function askingMode(reply: Fields): ModeChoice | undefined {
  const { current, modes, option } = modesOf(reply);
  if (current === undefined || hasName(current, [...ASKING, ...HARMLESS])) return undefined;
  for (const name of ASKING) {
    const mode = modes.find((one) => hasName(one, [name]));
    if (mode !== undefined) return { mode: mode.id, ...(option === undefined ? {} : { option }) };
  }
  if (!BYPASSING.test(current.id) && !BYPASSING.test(current.name)) return undefined;
  throw new ChildError("agent", `${wordsOf(current)}, and it offers no mode in which it asks`);
}

/** Returns the error for an agent that did not take the mode it offered. */
export function modeRefused(choice: ModeChoice, cause: unknown): ChildError {
  const words = `it did not take its own mode "${oneLine(choice.mode, 40)}", in which it asks`;
  return new ChildError("agent", words, { cause });
}

function wordsOf({ id }: Mode): string {
  return `it is in its mode "${oneLine(id, 40)}", in which it runs calls without asking`;
}

function modesOf(reply: Fields) {
  const state = fieldsOf(reply["modes"]);
  const listed = listOf(state["availableModes"]).flatMap((one) => modeOf(one, "id"));
  if (listed.length > 0) return found(listed, state["currentModeId"]);
  const option = listOf(reply["configOptions"]).map(fieldsOf)
    .find((one) => one["category"] === "mode");
  const values = listOf(option?.["options"]).flatMap((one) => modeOf(one, "value"));
  return { ...found(values, option?.["currentValue"]), option: textOf(option?.["id"]) };
}

function found(modes: readonly Mode[], id: unknown) {
  return { modes, current: modes.find((mode) => mode.id === id), option: undefined };
}

function modeOf(value: unknown, key: "id" | "value"): Mode[] {
  const fields = fieldsOf(value);
  const id = textOf(fields[key]);
  return id === undefined ? [] : [{ id, name: textOf(fields["name"]) ?? id }];
}

/** Some agents give the whole address of a specification as the id of a mode. */
function hasName({ id, name }: Mode, names: readonly string[]): boolean {
  const last = id.slice(id.lastIndexOf("#") + 1);
  return [last, name].some((one) => names.includes(one.toLowerCase()));
}
