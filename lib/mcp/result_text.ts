/**
 * The result of a call, as text for the model. What is no text is named with its type and size.
 *
 * @module
 */
import { fields } from "./server_tool.ts";

/** A result as text. */
export interface ResultText {
  readonly text: string;
  /** False when the server says that the call failed. */
  readonly ok: boolean;
}

/** Returns the text of what `tools/call` gave. */
export function resultText(result: unknown): ResultText {
  const { content, structuredContent, isError, toolResult } = fields(result);
  const blocks = Array.isArray(content) ? content : [];
  const parts = blocks.map(blockText);
  // Servers repeat structured content as text; it is shown once.
  if (structuredContent !== undefined && !blocks.some((block) => says(block, structuredContent))) {
    parts.push(json(structuredContent));
  }
  // Servers of the first version of the protocol.
  if (toolResult !== undefined) parts.push(json(toolResult));
  const text = parts.filter((part) => part !== "").join("\n");
  const ok = isError !== true;
  return { text: text === "" ? (ok ? "[no content]" : "[it failed without a word]") : text, ok };
}

function blockText(block: unknown): string {
  const { type, text, data, mimeType, resource, uri, name, description } = fields(block);
  switch (type) {
    case "text":
      return typeof text === "string" ? text : "";
    case "image":
    case "audio":
      return `[${type} ${word(mimeType)}, ${decodedSize(data)} bytes, not shown]`;
    case "resource_link":
      return `[resource ${word(uri)}${typeof name === "string" ? `: ${name}` : ""}${
        typeof description === "string" ? ` (${description})` : ""
      }]`;
    case "resource": {
      const inner = fields(resource);
      const what = word(inner["uri"]);
      if (typeof inner["text"] === "string") return `[resource ${what}]\n${inner["text"]}`;
      return `[resource ${what}, ${word(inner["mimeType"])}, ${
        decodedSize(inner["blob"])
      } bytes, not shown]`;
    }
    default:
      return `[content of the type "${word(type)}", not shown]`;
  }
}

function says(block: unknown, structured: unknown): boolean {
  const { type, text } = fields(block);
  if (type !== "text" || typeof text !== "string") return false;
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(structured);
  } catch {
    return false;
  }
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 1) ?? "";
}

function word(value: unknown): string {
  return typeof value === "string" && value !== "" ? value : "unknown";
}

/** Bytes of what a Base64 text holds. */
function decodedSize(data: unknown): number {
  if (typeof data !== "string") return 0;
  return Math.floor(data.replace(/=+$/u, "").length * 3 / 4);
}
