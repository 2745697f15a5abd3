import { test } from "node:test";
import assert from "node:assert/strict";
import { checkDocsLinks } from "./docs_links.ts";

function check(pages: Record<string, string>, files: string[] = []): string[] {
  const known = new Set([...Object.keys(pages), ...files]);
  return checkDocsLinks({
    pages: new Map(Object.entries(pages)),
    exists: (path) => known.has(path),
  });
}

test("checkDocsLinks() accepts links to files, folders, headings and the web", () => {
  const faults = check({
    "README.md": "[a](docs/a.md) [b](docs/a.md#the-point-of-it) [c](#here)\n\n# Here\n" +
      "[d](https://example.org/x) ![e](docs/pic.png)\n[f]: docs/a.md\n",
    "docs/a.md": "# Title\n\n## The point of `it`\n\n[up](../README.md)\n",
  }, ["docs/pic.png"]);
  assert.deepEqual(faults, []);
});

test("checkDocsLinks() reports a missing file, a missing heading and a way out", () => {
  const faults = check({
    "docs/a.md": "# T\n\n[x](gone.md)\n[y](#nothing)\n[z](../../out.md)\n[w]: lost.md\n",
  });
  assert.deepEqual(faults, [
    'docs/a.md:3: link "gone.md" leads to no file',
    'docs/a.md:4: link "#nothing" names no heading of docs/a.md',
    'docs/a.md:5: link "../../out.md" leaves the repository',
    'docs/a.md:6: link "lost.md" leads to no file',
  ]);
});

test("checkDocsLinks() reads no links inside code", () => {
  const text = "`[x](gone.md)`\n\n```md\n[x](gone.md)\n```\n";
  assert.deepEqual(check({ "a.md": text }), []);
});
