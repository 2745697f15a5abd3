/**
 * A tool call of an asked agent, put together from what the agent says of it: first when it announces
 * the call, then in updates, last in a permission question. Each may leave out what was said before.
 *
 * @module
 */
import type { ChildCall, ChildCallPart } from "./child_connection.ts";

/** Returns a call from all that was said of it: what the agent never said is filled in. */
export function wholeCall(part: ChildCallPart): ChildCall {
  const title = part.title ?? part.name ?? "a tool call without a title";
  const kind = part.kind ?? "other";
  return {
    ...part,
    title,
    name: part.name ?? (kind === "other" ? nameOf(title) : kind),
    kind,
    input: part.input ?? {},
  };
}

/**
 * Where an agent names no tool, the kind of the call stands for its name: one of a few words, by which
 * rules and grants can go. A call without either goes by its whole title, in which no slash may look
 * like the path of an agent.
 */
function nameOf(title: string): string {
  return title.replaceAll("%", "%25").replaceAll("/", "%2F");
}
