/**
 * The order of roles that strict chat templates (Gemma's, Mistral's) accept: an optional system
 * message, then user and assistant in turn, tool rounds inside.
 *
 * @module
 */
import { textOfMessage, type WireMessage } from "./wire.ts";

/** Returns one line for each message that stands where it must not, or is empty. */
export function roleFaults(messages: readonly WireMessage[]): string[] {
  const faults: string[] = [];
  /** Ids of calls that still have no result. */
  let open: string[] = [];
  let previous = "nothing";
  messages.forEach((message, index) => {
    const say = (fault: string) => faults.push(`messages[${index}] (${message.role}): ${fault}`);
    if (message.role !== "tool" && open.length > 0) {
      say(`comes before the results of the calls ${open.map((id) => `"${id}"`).join(", ")}`);
      open = [];
    }
    switch (message.role) {
      case "system":
        if (index > 0) say("is not the first message");
        break;
      case "user":
        if (previous === "user" || previous === "tool") say(`comes right after ${previous}`);
        if (isEmpty(message)) say("is empty");
        break;
      case "assistant": {
        if (previous !== "user" && previous !== "tool") say(`comes right after ${previous}`);
        const calls = message.tool_calls ?? [];
        if (calls.length === 0 && isEmpty(message)) say("is empty");
        open = calls.map((call) => call.id);
        if (new Set(open).size < open.length) say("has two calls with one id");
        for (const call of calls) {
          if (!isJsonObject(call.function.arguments)) {
            say(`the arguments of call "${call.id}" are no JSON object`);
          }
        }
        break;
      }
      case "tool": {
        const expected = open.shift();
        if (expected === undefined) say(`answers no open call ("${message.tool_call_id}")`);
        else if (expected !== message.tool_call_id) {
          say(`answers "${message.tool_call_id}", next in call order is "${expected}"`);
        }
        if (typeof message.content !== "string") say("has content that is no text");
        break;
      }
      default:
        say("is an unknown role");
    }
    previous = message.role;
  });
  if (open.length > 0) {
    faults.push(`the request ends before the results of ${open.map((id) => `"${id}"`).join(", ")}`);
  } else if (previous !== "user" && previous !== "tool") {
    faults.push(`the request ends with ${previous}`);
  }
  return faults;
}

function isEmpty(message: WireMessage): boolean {
  const { content } = message;
  if (Array.isArray(content)) return content.length === 0;
  return textOfMessage(message).trim() === "";
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
