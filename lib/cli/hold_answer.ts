/**
 * Keeping the answer out of what is shown while an agent works.
 *
 * @module
 */
import type { EngineEvent } from "../engine/events.ts";

/**
 * Passes the events of one ask on, all but the agent's last message: that is the answer, which has
 * its own stream. What the agent said before is held until it turns out to be no answer.
 */
export function holdAnswer(show: (event: EngineEvent) => void): (event: EngineEvent) => void {
  let held: Extract<EngineEvent, { type: "text" }>[] = [];
  return (event) => {
    const next = event.type === "text" && event.messageId !== held[0]?.messageId;
    if (next || event.type === "tool_call") {
      held.forEach(show);
      held = [];
    }
    if (event.type === "text") held.push(event);
    else show(event);
  };
}
