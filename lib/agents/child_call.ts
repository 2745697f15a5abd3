/**
 * A tool call of an asked agent, put together from what the agent says of it: first when it announces
 * the call, then in updates, last in a permission question. Each may leave out what was said before.
 *
 * @module
 */
import type { ChildCall, ChildCallPart } from "./child_connection.ts";

/**
 * Returns a call from all that was said of it: what the agent never said is filled in. Where it names
 * no tool the title stands for the name, and changes with it.
 */
export function wholeCall(part: ChildCallPart): ChildCall {
  const title = part.title ?? part.name ?? "a tool call without a title";
  return {
    ...part,
    title,
    name: part.name ?? title,
    kind: part.kind ?? "other",
    input: part.input ?? {},
  };
}
