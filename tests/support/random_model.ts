/**
 * What a model may answer, by chance: text, calls that work and calls that do not, nothing, errors in
 * many forms, half an answer.
 *
 * @module
 */
import type { RecordedRequest, Reply, ReplyCall } from "./model_server.ts";
import type { Random } from "./random.ts";

/** Options of {@linkcode randomReply}. */
export interface RandomReplyOptions {
  readonly random: Random;
  /** Calls of tools that the model makes in a row at most. */
  readonly maxRounds: number;
  /** Called for an answer that never ends: somebody has to cancel. */
  readonly onHang: () => void;
}

/** Whether a request asks for the summary of a compression. */
export function asksForSummary(request: RecordedRequest): boolean {
  return request.lastUser.startsWith("<conversation>\n") &&
    request.lastUser.includes("</conversation>\n\nWrite the summary");
}

/** Returns an answer. */
export function randomReply(request: RecordedRequest, options: RandomReplyOptions): Reply {
  const { random, onHang } = options;
  const hang = (): Reply => {
    onHang();
    return random.chance(0.5)
      ? { hang: true }
      : { chunks: ["Half ", "an ", "answer"], hang: true, holdAfter: random.whole(1, 2) };
  };
  const failure = (): Reply => random.one<Reply>([FAILURE, FULL, OVERLOADED, STREAM_ERROR]);
  if (asksForSummary(request)) {
    return random.weighted<() => Reply>([
      [8, () => ({ text: random.text(20, 300), ...usage(random, request) })],
      [1, () => ({ text: "" })],
      [1, () => ({ text: random.text(3000, 6000) })],
      [1, failure],
      [1, hang],
      [1, () => ({ text: "Cut", finish: "length" })],
    ])();
  }
  const rounds = request.messages.length -
    request.messages.findLastIndex((message) => message.role === "user");
  return random.weighted<() => Reply>([
    [8, () => ({ text: random.text(1, 60) || "Yes", ...usage(random, request) })],
    [5, () => ({ text: random.text(600, 2400), ...usage(random, request) })],
    [1, () => ({ text: "Thought.", reasoning: random.text(1, 200) })],
    [rounds > options.maxRounds ? 0 : 8, () => ({
      ...(random.chance(0.5) ? {} : { text: "I look." }),
      ...(random.chance(0.2) ? { reasoning: "Hm." } : {}),
      ...(random.chance(0.05) ? { finish: "length" } : {}),
      toolCalls: Array.from({ length: random.whole(1, 3) }, () => randomCall(random, request)),
      ...usage(random, request),
    })],
    [1, () => ({ text: "" })],
    [1, () => ({ text: "Cut of", finish: "length" })],
    [0.5, () => ({ text: "", finish: "length" })],
    [0.5, () => ({ text: "", finish: "content_filter" })],
    [2, failure],
    [0.2, () => ({ chunks: ["Broken ", "off"], cutAfter: 1 })],
    [1, hang],
  ])();
}

function randomCall(random: Random, request: RecordedRequest): ReplyCall {
  const id = request.raw.match(/task-[0-9a-f]{6}/gu)?.at(-1) ?? "task-000000";
  const task = { description: "A task", prompt: "Look." };
  return random.one<ReplyCall>([
    { name: "agent", arguments: task },
    {
      name: "agent",
      arguments: { ...task, subagent_type: random.one(["explore", "fork", "bob"]) },
    },
    { name: "agent", arguments: { ...task, run_in_background: false } },
    { name: "agent", arguments: { ...task, subagent_type: "nobody" } },
    { name: "list_agents", arguments: {} },
    { name: "send_message", arguments: { task_id: id, message: "And then?" } },
    {
      name: "wait_agent",
      arguments: random.one<Record<string, unknown>>([{}, { task_ids: [id] }]),
    },
    { name: "task_stop", arguments: { task_id: id } },
    { name: "ls", arguments: {} },
    { name: "read", arguments: { path: "big.txt" } },
    { name: "read", arguments: { path: random.one(["missing.txt", "AGENTS.md"]) } },
    { name: "ask_agent", arguments: { agent: random.one(["bob", "nobody"]), prompt: "What?" } },
    { name: "write", arguments: { path: "new.txt", content: "x" } },
    { name: "unknown", arguments: {} },
    { name: "Read", arguments: '{"path": ' },
    { name: "ls", arguments: "" },
    { name: "ls", arguments: { path: 7 }, id: "same" },
  ]);
}

/** Counts of the server: none, as they are, or three times the estimate. */
function usage(random: Random, request: RecordedRequest): Pick<Reply, "usage"> {
  const tokens = (share: number) => Math.ceil(request.bytes.length * share);
  return random.weighted<Pick<Reply, "usage">>([
    [3, {}],
    [1, { usage: false }],
    [1, { usage: { prompt_tokens: tokens(0.5), completion_tokens: 20 } }],
    [1, { usage: { prompt_tokens: 0, completion_tokens: 0 } }],
  ]);
}

const FAILURE: Reply = { status: 400, body: { error: { message: "Not today" } } };
const FULL: Reply = {
  status: 400,
  body: { error: { message: "the request exceeds the available context size", code: 400 } },
};
const OVERLOADED: Reply = { status: 503, body: "overloaded" };
const STREAM_ERROR: Reply = {
  raw: 'data: {"error":{"message":"broke down","code":500}}\n\n',
};
