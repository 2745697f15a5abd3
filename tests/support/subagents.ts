/**
 * Scripts for a conversation and its subagents, which talk to one model server under one model's name.
 *
 * @module
 */
import type { RecordedRequest, Rule } from "./model_server.ts";

/** Whether a request is one of a subagent that a definition describes. */
export function isSubagent(request: RecordedRequest): boolean {
  return request.system.includes("You are a subagent");
}

/** Limits rules to subagents. */
export function forSubagent(...rules: readonly Rule[]): Rule {
  return (request) => isSubagent(request) ? firstOf(rules, request) : undefined;
}

/** Limits rules to whoever is no subagent: the person's own agent, and its forks. */
export function forParent(...rules: readonly Rule[]): Rule {
  return (request) => isSubagent(request) ? undefined : firstOf(rules, request);
}

/** The text of the first message with the role `user`: what a subagent was told to do. */
export function taskOf(request: RecordedRequest): string {
  const first = request.messages.find((message) => message.role === "user")?.content;
  return typeof first === "string" ? first : JSON.stringify(first ?? "");
}

/** The results of tools at the end of a request, in the order of the calls. */
export function lastResults(request: RecordedRequest): string[] {
  const from = request.messages.findLastIndex((message) => message.role !== "tool");
  return request.messages.slice(from + 1).map(({ content }) => String(content));
}

/** The ids of runs in the background that a request has, each once, in order. */
export function taskIds(request: RecordedRequest): string[] {
  return [...new Set(JSON.stringify(request.messages).match(/task-[0-9a-f]{6}/gu) ?? [])];
}

function firstOf(rules: readonly Rule[], request: RecordedRequest) {
  for (const rule of rules) {
    const reply = rule(request);
    if (reply !== undefined) return reply;
  }
  return undefined;
}
