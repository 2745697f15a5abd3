import assert from "node:assert/strict";
import { test } from "node:test";
import { htmlToMarkdown } from "./fetch_html.ts";

const signal = new AbortController().signal;

function convert(html: string, enough = 20_000) {
  return htmlToMarkdown(html, { enough, signal });
}

test("htmlToMarkdown() converts only as much of a page as is needed, and says that there is more", async () => {
  const row = "<div><p>some <b>text</b> and a <a href='/x'>link</a></p></div>\n";
  const { text, more } = await convert(`<body>${row.repeat(60_000)}</body>`, 5000);
  assert.ok(more);
  assert.ok(text.length > 5000 && text.length < 60_000, `${text.length}`);
  assert.ok(text.startsWith("some **text** and a [link](/x)\n\nsome **text**"));
});

test("htmlToMarkdown() joins the pieces of a page without losing a word", async () => {
  const words = Array.from({ length: 4000 }, (_, index) => `word${index}`);
  const { text, more } = await convert(words.map((w) => `<p>${w} here</p>`).join("\n"), 1e9);
  assert.ok(!more);
  assert.deepEqual(text.match(/word\d+/gu), words);
});

test("htmlToMarkdown() takes a bounded time for pages that are nested or broken without end", async () => {
  const pages = [
    "<div>".repeat(100_000) + "x",
    `<table>${"<tr><td>a".repeat(20_000)}`,
    "<b>".repeat(20_000),
    "<ul><li>".repeat(58) + "x",
    "<table><tr><td><ul><li><blockquote><a href=x><b>".repeat(7) + "x",
    "<!--".repeat(200_000),
    "<script".repeat(100_000),
    `<a ${"x=1 ".repeat(200_000)}>q</a>`,
    "<".repeat(1_000_000),
    `<p>${" ".repeat(1_000_000)}x</p>`,
    `<svg>${"<path d='M0 0'/>".repeat(200_000)}</svg>ok`,
  ];
  for (const page of pages) {
    const started = performance.now();
    await convert(page);
    const took = performance.now() - started;
    assert.ok(took < 10_000, `${took} ms for ${page.slice(0, 20)}`);
  }
});

test("htmlToMarkdown() shows what is nested too deep without its tags", async () => {
  const { text } = await convert(`${"<div>".repeat(500)}a <b>deep</b> word${"</div>".repeat(500)}`);
  assert.equal(text, "a deep word");
});

test("htmlToMarkdown() leaves out what is not closed up to the end, as a browser does", async () => {
  assert.equal((await convert("<p>seen</p><script>let a = '<p>not seen</p>'")).text, "seen");
  assert.equal((await convert("<p>seen</p><!-- <p>not seen</p>")).text, "seen");
});

test("htmlToMarkdown() puts the title above a page without a heading of its own", async () => {
  const title = "<head><title>\n A &amp; b </title></head>";
  assert.equal((await convert(`${title}<p>x</p>`)).text, "# A & b\n\nx");
  assert.equal((await convert(`${title}<h1>y</h1><p>x</p>`)).text, "# y\n\nx");
});

test("htmlToMarkdown() stops with the signal's reason", async () => {
  const cancel = new AbortController();
  const done = htmlToMarkdown("<p>some text</p>\n".repeat(50_000), {
    enough: 1e9,
    signal: cancel.signal,
  });
  setTimeout(() => cancel.abort(new Error("enough of it")), 50);
  await assert.rejects(done, /enough of it/);
});
