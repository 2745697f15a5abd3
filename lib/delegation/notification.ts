/**
 * How the model is told that a run in the background ended: one message, one block for each end.
 *
 * @module
 */

/** The end of one run, or of one round of a run that went on. */
export interface Notification {
  readonly taskId: string;
  /** Counts the rounds of the run from 1, so that two ends of one run can be told apart. */
  readonly round: number;
  readonly agent: string;
  readonly description: string;
  /** `completed`, `incomplete`, `failed`, `cancelled`, … */
  readonly status: string;
  /** For the model, within its limit. */
  readonly result: string;
  /** Where the whole result is; absent where it is all here. */
  readonly file?: string;
  readonly toolCalls: number;
  /** Milliseconds. */
  readonly durationMs: number;
}

const OPEN = "<task-notification>";
const CLOSE = "</task-notification>";

/** The elements of a notification, also as a model might read them over blanks and what has no width. */
const OWN_TAGS =
  /<(?=[\s\p{Cf}]*(?:\/[\s\p{Cf}]*)?(?:task-notification|task|description|result|remaining)\b)/giu;

/**
 * Returns the message for some ends.
 *
 * @param remaining runs that still work or wait.
 */
export function notificationText(
  ends: readonly Notification[],
  options: { readonly remaining: number },
): string {
  const blocks = ends.map((end) => blockOf(end));
  const more = options.remaining === 0
    ? "no other subagent is at work"
    : `${options.remaining} still at work, told when they end`;
  return `${OPEN}\n${blocks.join("\n")}\n<remaining>${more}</remaining>\n${CLOSE}`;
}

/** Returns the block of one end, as `wait_agent` gives it too. */
export function blockOf(end: Notification): string {
  const { taskId, round, agent, status, description, result, file, toolCalls, durationMs } = end;
  const facts = [
    attribute("id", taskId),
    ...(round === 1 ? [] : [attribute("round", String(round))]),
    attribute("agent", agent),
    attribute("status", status),
    attribute("tool-calls", String(toolCalls)),
    attribute("seconds", (durationMs / 1000).toFixed(1)),
    ...(file === undefined ? [] : [attribute("file", file)]),
  ];
  return `<task ${facts.join(" ")}>\n<description>${withoutTags(description)}</description>\n` +
    `<result>\n${withoutTags(result)}\n</result>\n</task>`;
}

/** Says whether a message of the history is nothing but notifications: no person said it. */
export function isNotification(text: string): boolean {
  return text.startsWith(OPEN) && text.trimEnd().endsWith(CLOSE);
}

/**
 * Keeps a text from ending or faking an element of the message. Everything else stays as it is: an
 * answer is code more often than not.
 */
export function withoutTags(text: string): string {
  return text.replace(OWN_TAGS, "&lt;");
}

function attribute(name: string, value: string): string {
  return `${name}="${value.replace(/[&<>"\n\r]/gu, (char) => `&#${char.charCodeAt(0)};`)}"`;
}
