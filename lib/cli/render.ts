/**
 * From the engine's events to text for a scrolling terminal, for line mode, `-p` and `--ask`. No
 * cursor movement, and nothing of what a model or a tool writes reaches the terminal raw.
 *
 * @module
 */
import { oneLine } from "../base/cut.ts";
import { describeEnd, type End } from "../base/ends.ts";
import type { ToolCallView } from "../base/tool_call.ts";
import type { EngineEvent } from "../engine/events.ts";
import { type TaskEvent, taskWords } from "../engine/task_words.ts";
import { diffText } from "./diff_text.ts";
import type { Paint } from "./paint.ts";
import { planText } from "./plan_text.ts";
import { safeText, visibleText } from "./safe_text.ts";
import type { Screen } from "./screen.ts";
import { createSpeech } from "./speech.ts";

/** Columns that a title may take, the first line of a result, and the reason of a failure. */
const TITLE_WIDTH = 160;
const RESULT_WIDTH = 100;
const REASON_WIDTH = 300;

/** Lines of a change shown after it was made; the question before it shows all. */
const DIFF_LINES = 40;

/** Lines of an earlier prompt that are shown again. */
const USER_LINES = 12;

/** Options of {@linkcode createRenderer}. */
export interface RendererOptions {
  readonly screen: Screen;
  /** For the side; an answer's own stream is never coloured. */
  readonly paint: Paint;
  /** Whether the answer passes unchanged: its own stream is no terminal. */
  readonly rawAnswer?: boolean;
  /** Shows the output of commands while they run. */
  readonly verbose: boolean;
  /** The session's directory; paths inside it are shown relative to it. */
  readonly cwd: string;
}

/** Renders the events of one session. */
export interface Renderer {
  /** Shows an event. */
  readonly event: (event: EngineEvent) => void;
  /** Shows whole lines of mm's own, without the final newline. */
  readonly lines: (text: string) => void;
  /**
   * Ends a turn: shows what was held back, and how it ended unless that was said.
   *
   * @param subject who ended. @default The turn
   */
  readonly endTurn: (end: End, subject?: string) => void;
  /** Tells that the change of a call was shown with a question. */
  readonly changeShown: (callId: string) => void;
  /** Tells that a typed line ended the open line. */
  readonly lineTyped: () => void;
}

type EventOf<Type extends EngineEvent["type"]> = Extract<EngineEvent, { type: Type }>;

/** Creates a renderer. */
export function createRenderer(options: RendererOptions): Renderer {
  const { screen, paint, verbose, cwd } = options;
  const ownAnswer = screen.answer !== screen.side;
  const speech = createSpeech();
  const calls = new Map<string, ToolCallView>();
  const asks = new Map<string, { readonly agent: string; readonly callId?: string }>();
  const shownChanges = new Set<string>();
  const tasks = new Map<string, TaskEvent["state"]>();
  let saidEnd: End["kind"] | undefined;

  const plain = (text: string) => text;
  const labelOf = (agent: string) => paint.cyan(`${nameText(agent)} │ `);
  const wholeLines = () => asks.size > 1;

  function said(event: EventOf<"user">): void {
    speech.endAll();
    screen.answer.close();
    const lines = safeText(event.text).trimEnd().split("\n");
    const more = lines.length - USER_LINES;
    if (more > 0) lines.splice(USER_LINES, more, `[${more} more ${more === 1 ? "line" : "lines"}]`);
    screen.side.lines(lines.map((line) => `> ${paint.bold(line)}`.trimEnd()).join("\n"));
  }

  function speak(event: EventOf<"text" | "thought">): void {
    const { agent, messageId, text } = event;
    const label = agent === undefined ? "" : labelOf(agent);
    const several = agent !== undefined && wholeLines();
    if (event.type === "thought") {
      const mark = label + paint.dim("┆ ");
      const voice = { column: screen.side, messageId, mark, style: paint.dim, wholeLines: several };
      return speech.say(`thought:${agent ?? ""}`, text, voice);
    }
    speech.end(`thought:${agent ?? ""}`);
    speech.say(`text:${agent ?? ""}`, text, {
      column: screen.answer,
      messageId,
      mark: ownAnswer ? "" : label,
      style: plain,
      raw: ownAnswer && options.rawAnswer === true,
      wholeLines: several,
    });
  }

  function output(event: EventOf<"tool_output">): void {
    const { callId, text, thought = false } = event;
    const ask = [...asks.values()].find((one) => one.callId === callId);
    if (ask === undefined && !verbose) return;
    if (!thought) speech.end(`output:${callId}:true`);
    speech.say(`output:${callId}:${thought}`, text, {
      column: screen.side,
      messageId: callId,
      mark: (ask === undefined ? paint.dim("  │ ") : labelOf(ask.agent)) +
        (thought ? paint.dim("┆ ") : ""),
      style: thought || ask === undefined ? paint.dim : plain,
      wholeLines: wholeLines(),
    });
  }

  function endOutput(callId: string): void {
    speech.end(`output:${callId}:true`);
    speech.end(`output:${callId}:false`);
  }

  function announce(call: ToolCallView): void {
    calls.set(call.id, call);
    // Some calls have nothing to say but their name.
    const title = call.title === call.name ? "" : nameText(call.title);
    screen.side.lines(
      `${indentOf(call)}${paint.cyan("●")} ${paint.bold(nameText(call.name))} ${title}`.trimEnd(),
    );
  }

  function update(event: EventOf<"tool_update">): void {
    const before = calls.get(event.callId);
    if (before !== undefined && event.call !== undefined) {
      calls.set(event.callId, event.call);
      // Some agents say only now what a call does.
      if (event.call.title !== before.title) {
        screen.side.lines(
          paint.dim(`${indentOf(before)}  ${nameText(oneLine(event.call.title, 200))}`),
        );
      }
    }
    if (event.status !== "completed" && event.status !== "failed") return;
    const call = calls.get(event.callId);
    if (call === undefined) return;
    calls.delete(event.callId);
    endOutput(event.callId);
    const done = event.status === "completed";
    // With other calls under way, the name alone does not say which one this is.
    const which = calls.size > 0 ? ` ${visibleText(oneLine(call.title, 60))}` : "";
    const result = event.text === undefined
      ? ""
      : resultLine(event.text, done ? RESULT_WIDTH : REASON_WIDTH);
    screen.side.lines(
      `${indentOf(call)}${done ? paint.green("✓") : paint.red("✗")} ${
        nameText(call.name)
      }${which}` +
        (result === "" ? "" : paint.dim(` · ${result}`)),
    );
    const shown = shownChanges.delete(event.callId);
    for (const diff of done && !shown ? event.diffs ?? call.diffs ?? [] : []) {
      screen.side.lines(diffText(diff, { paint, cwd, maxLines: DIFF_LINES }).trimEnd());
    }
  }

  function askStart(event: EventOf<"ask_start">): void {
    asks.set(event.askId, event);
    const title = event.title === event.agent ? "" : ` (${nameText(event.title)})`;
    screen.side.lines(`${paint.cyan("▸")} asking ${paint.bold(nameText(event.agent))}${title}`);
  }

  function askEnd(event: EventOf<"ask_end">): void {
    const callId = asks.get(event.askId)?.callId;
    if (callId === undefined) {
      speech.end(`thought:${event.agent}`);
      speech.end(`text:${event.agent}`);
      saidEnd = event.end.kind;
    } else {
      endOutput(callId);
    }
    asks.delete(event.askId);
    const label = event.label === undefined ? "" : ` (${nameText(event.label)})`;
    screen.side.lines(endText(event.end, describeEnd(event.end, event.agent) + label, paint));
  }

  function task(event: TaskEvent): void {
    // What waits for the person has its question on the screen, which says all.
    if (event.state === "parked") return;
    const before = tasks.get(event.taskId);
    if (event.state === "ended") tasks.delete(event.taskId);
    else tasks.set(event.taskId, event.state);
    if (event.state === before) return;
    screen.side.lines(
      paint.dim(visibleText(`${taskMark(event.end, event.state)} ${taskWords(event)}`)),
    );
  }

  return {
    event(event) {
      switch (event.type) {
        case "user":
          return said(event);
        case "text":
        case "thought":
          return speak(event);
        case "tool_call":
          return announce(event.call);
        case "tool_update":
          return update(event);
        case "tool_output":
          return output(event);
        case "notice":
          return screen.side.lines(noticeText(event, paint));
        case "ask_start":
          return askStart(event);
        case "ask_end":
          return askEnd(event);
        case "plan":
          return screen.side.lines(planText(event.entries, paint));
        case "task":
          return task(event);
        // Notices tell of a compression.
        case "compaction_start":
        case "compaction_text":
        case "compaction_end":
        case "usage":
        case "alive":
          return;
      }
    },
    lines: (text) => screen.side.lines(text),
    endTurn(end, subject = "The turn") {
      speech.endAll();
      screen.answer.close();
      screen.side.close();
      if (end.kind !== "answered" && end.kind !== saidEnd) {
        screen.side.lines(endText(end, describeEnd(end, subject), paint));
      }
      saidEnd = undefined;
      calls.clear();
      asks.clear();
      shownChanges.clear();
    },
    changeShown: (callId) => void shownChanges.add(callId),
    lineTyped: () => screen.side.broken(),
  };
}

/** A name or a title on one line, with nothing hidden in it. */
function nameText(name: string): string {
  return visibleText(oneLine(name, TITLE_WIDTH));
}

function indentOf(call: ToolCallView): string {
  return call.parentId === undefined ? "" : "  ";
}

/** Returns the first line that says something, and how many more there are. */
function resultLine(text: string, width: number): string {
  const lines = safeText(text).split("\n").filter((line) => line.trim() !== "");
  const [first] = lines;
  if (first === undefined) return "";
  const more = lines.length - 1;
  return oneLine(first, width) +
    (more === 0 ? "" : ` (${more} more ${more === 1 ? "line" : "lines"})`);
}

function endText(end: End, sentence: string, paint: Paint): string {
  const text = safeText(sentence);
  switch (end.kind) {
    case "answered":
      return paint.dim(`◂ ${text}`);
    case "incomplete":
    case "cancelled":
      return paint.yellow(`◂ ${text}`);
    default:
      return paint.red(`✗ ${text}`);
  }
}

function taskMark(end: End | undefined, state: "queued" | "running" | "ended"): string {
  if (state === "ended") return end === undefined || end.kind === "answered" ? "✓" : "✗";
  return state === "queued" ? "⧗" : "▸";
}

function noticeText(notice: EventOf<"notice">, paint: Paint): string {
  const text = safeText(notice.text).trimEnd();
  switch (notice.severity) {
    case "info":
      return text;
    case "warning":
      return paint.yellow(`! ${text}`);
    case "error":
      return paint.red(`✗ ${text}`);
  }
}
