import assert from "node:assert/strict";
import { test } from "node:test";
import type { ContentBlock } from "@agentclientprotocol/sdk";
import { promptInput } from "./content.ts";

const textOnly = { images: false };
const text = (value: string): ContentBlock => ({ type: "text", text: value });

function isInvalid(error: unknown): boolean {
  return (error as { code?: unknown }).code === -32602;
}

test("a link becomes a mention where it was written, with its name and the path of its file", () => {
  const { text: prompt } = promptInput([
    text("Look at "),
    { type: "resource_link", name: "a b.ts", uri: "file:///x/a%20b.ts#L10" },
    text(", and at "),
    { type: "resource_link", name: "page", uri: "https://example.com/p" },
  ], textOnly);
  assert.equal(prompt, "Look at [a b.ts](/x/a b.ts#L10), and at [page](https://example.com/p)");
});

test("mentions and text that touch are kept apart", () => {
  const link: ContentBlock = { type: "resource_link", name: "a", uri: "x:a" };
  assert.equal(promptInput([text("see"), link, text("now")], textOnly).text, "see [a](x:a) now");
});

test("the text of an embedded file follows in a block that its own backticks do not end", () => {
  const resource = { uri: "file:///x/notes.md", text: "```js\n1\n```" };
  const { text: prompt } = promptInput([text("Read "), { type: "resource", resource }], textOnly);
  assert.equal(
    prompt,
    "Read [notes.md](/x/notes.md)\n\nContent of /x/notes.md:\n````\n```js\n1\n```\n````",
  );
});

test("an embedded file that is not text is mentioned with what it is", () => {
  const resource = { uri: "file:///x/a.bin", blob: "AAAA", mimeType: "application/zip" };
  const { text: prompt } = promptInput([{ type: "resource", resource }], textOnly);
  assert.equal(prompt, "[a.bin](/x/a.bin) (application/zip, 4 characters of base64, not shown)");
});

test("a slash command stays first though the editor put a mention before it", () => {
  const link: ContentBlock = { type: "resource_link", name: "a", uri: "x:a" };
  assert.equal(promptInput([link, text("/ask-bob why?")], textOnly).text, "/ask-bob why? [a](x:a)");
});

test("an image is taken when the model takes images and refused otherwise", () => {
  const image: ContentBlock = { type: "image", mimeType: "image/png", data: "iVBOR" };
  assert.deepEqual(promptInput([image], { images: true }).images, [
    { mimeType: "image/png", data: "iVBOR" },
  ]);
  assert.throws(() => promptInput([text("see"), image], textOnly), isInvalid);
});

test("an empty prompt and sound are refused", () => {
  assert.throws(() => promptInput([], textOnly), isInvalid);
  assert.throws(() => promptInput([text(" \n")], textOnly), isInvalid);
  const audio: ContentBlock = { type: "audio", mimeType: "audio/wav", data: "" };
  assert.throws(() => promptInput([text("hear"), audio], { images: true }), isInvalid);
});
