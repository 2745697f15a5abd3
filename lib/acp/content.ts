/**
 * What an editor puts into a prompt, as the text and the images a model gets.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import type { ContentBlock, EmbeddedResource, ResourceLink } from "@agentclientprotocol/sdk";
import type { Image } from "../model/types.ts";
import type { PromptInput } from "../session/types.ts";
import { fence } from "./call_view.ts";
import { invalidParams } from "./errors.ts";

/** Options of {@linkcode promptInput}. */
export interface PromptInputOptions {
  /** Whether the model takes images. */
  readonly images: boolean;
}

/**
 * Returns the input that `blocks` stand for. A mention of a file stays where it was written; the
 * text of an embedded one follows at the end, so that a slash command stays one.
 *
 * @throws {RequestError} -32602 for an empty prompt and for content this agent does not take.
 */
export function promptInput(
  blocks: readonly ContentBlock[],
  options: PromptInputOptions,
): PromptInput {
  const pieces: string[] = [];
  const attached: string[] = [];
  const images: Image[] = [];
  let afterText = false;
  for (const block of commandFirst(blocks)) {
    const isText = block.type === "text";
    switch (block.type) {
      case "text":
        // Two blocks of text are two paragraphs; beside a mention the text has its own spaces.
        if (afterText) pieces.push("\n");
        else spaceBetween(pieces, block.text);
        pieces.push(block.text);
        break;
      case "resource_link":
        mention(pieces, linkReference(block));
        break;
      case "resource":
        mention(pieces, resourceReference(block));
        if ("text" in block.resource) attached.push(resourceText(block));
        break;
      case "image":
        if (!options.images) {
          throw invalidParams(
            "Cannot take an image: this agent's model is not known to read images",
          );
        }
        images.push({ mimeType: block.mimeType, data: block.data });
        break;
      default:
        throw invalidParams(`Cannot take content of type "${block.type}": send text`);
    }
    afterText = isText;
  }
  const text = [pieces.join(""), ...attached].filter((part) => part !== "").join("\n\n");
  if (text.trim() === "" && images.length === 0) {
    throw invalidParams("Cannot run an empty prompt: write something");
  }
  return images.length === 0 ? { text } : { text, images };
}

/** Moves a slash command to the front of the mentions that an editor put before it. */
function commandFirst(blocks: readonly ContentBlock[]): readonly ContentBlock[] {
  const first = blocks.findIndex((block) => block.type === "text");
  const block = blocks[first];
  if (first <= 0 || block?.type !== "text" || !block.text.startsWith("/")) return blocks;
  return [block, ...blocks.slice(0, first), ...blocks.slice(first + 1)];
}

function mention(pieces: string[], reference: string): void {
  spaceBetween(pieces, reference);
  pieces.push(reference);
}

/** Separates what would otherwise run together. */
function spaceBetween(pieces: string[], next: string): void {
  const before = pieces.at(-1) ?? "";
  if (before !== "" && !/\s$/u.test(before) && /^[\p{L}\p{N}[/]/u.test(next)) pieces.push(" ");
}

function linkReference(link: ResourceLink): string {
  return `[${link.title ?? link.name}](${target(link.uri)})`;
}

function resourceReference(block: EmbeddedResource): string {
  const { resource } = block;
  const name = resource.uri.split(/[/\\]/u).findLast((part) => part !== "") ?? resource.uri;
  const reference = `[${name}](${target(resource.uri)})`;
  if ("text" in resource) return reference;
  const kind = resource.mimeType ?? "binary";
  return `${reference} (${kind}, ${resource.blob.length} characters of base64, not shown)`;
}

function resourceText(block: EmbeddedResource): string {
  const { resource } = block;
  return "text" in resource ? `Content of ${target(resource.uri)}:\n${fence(resource.text)}` : "";
}

/** Tools take paths: the address of a file becomes one, anything else stays as it is. */
function target(uri: string): string {
  if (!uri.startsWith("file:")) return uri;
  try {
    const url = new URL(uri);
    const fragment = url.hash;
    url.hash = "";
    return fileURLToPath(url) + fragment;
  } catch {
    return uri;
  }
}
