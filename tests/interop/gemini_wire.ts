/**
 * The Gemini API as a wire of the scripted model server: `…:streamGenerateContent` and its like.
 *
 * @module
 */
import type { PeerAnswer, PeerWire } from "./peer_wire.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

const USAGE = { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12 };

/** The wire. Its events have no names, and nothing follows the last. */
export const GEMINI: PeerWire = {
  read: (body) => {
    const contents: Json[] = body.contents ?? [];
    const last = contents.findLastIndex((one) => one.role === "user" && textOf(one) !== "");
    return {
      question: contents.filter((one) => one.role === "user").map(textOf).join("\n"),
      results: contents.slice(last + 1).flatMap((one) => one.parts ?? [])
        .filter((part) => part.functionResponse !== undefined)
        .map((part) => JSON.stringify(part.functionResponse.response)),
      tools: (body.tools ?? []).flatMap((tool: Json) => tool.functionDeclarations ?? [])
        .map((tool: Json) => String(tool.name)),
    };
  },
  whole: (reply, id) => ({
    candidates: [{
      index: 0,
      content: { role: "model", parts: partsOf(reply, id) },
      finishReason: "STOP",
    }],
    usageMetadata: USAGE,
  }),
  events: (reply, id) => [GEMINI.whole(reply, id)],
};

function partsOf(reply: PeerAnswer, id: string): Json[] {
  if ("text" in reply) return [{ text: reply.text }];
  return reply.calls.map((call, at) => ({
    functionCall: { id: `${id}_${at}`, name: call.name, args: call.arguments },
  }));
}

function textOf(content: Json): string {
  return (content.parts ?? []).map((part: Json) => part.text ?? "").filter((text: string) =>
    text !== ""
  ).join("\n");
}
