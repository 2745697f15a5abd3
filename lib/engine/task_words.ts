/**
 * What a person is told of work in the background.
 *
 * @module
 */
import { oneLine } from "../base/cut.ts";
import { describeEnd } from "../base/ends.ts";
import type { EngineEvent } from "./events.ts";

/** UTF-16 units of a name or a description. */
const DESCRIPTION_LENGTH = 80;

/** UTF-16 units of how it ended: reasons can be long. */
const END_LENGTH = 300;

/** A run in the background changed its state. */
export type TaskEvent = Extract<EngineEvent, { type: "task" }>;

/** Returns one line about the change, without a mark: `explore (task-1f09ab) started: Find the tests`. */
export function taskWords(event: TaskEvent): string {
  const { taskId, agent, description, state, end } = event;
  const who = `${oneLine(agent, DESCRIPTION_LENGTH)} (${taskId})`;
  const what = oneLine(description, DESCRIPTION_LENGTH);
  switch (state) {
    case "queued":
      return `${who} waits for a slot (agents.maxParallel)`;
    case "running":
      return `${who} started: ${what}`;
    case "parked":
      return `${who} waits for your permission`;
    case "ended":
      return end === undefined || end.kind === "answered"
        ? `${who} ended: ${what}`
        : oneLine(describeEnd(end, who), END_LENGTH);
  }
}
