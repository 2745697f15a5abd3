import assert from "node:assert/strict";
import { test } from "node:test";
import type { Keys } from "./support/agents.ts";
import type { ModelServer, RecordedRequest } from "./support/model_server.ts";
import { oneAgent } from "./support/one_agent.ts";
import { type TestProject, withProject } from "./support/project.ts";
import { type Page, page, redirect, startWebServer, type WebServer } from "./support/web_server.ts";

const HTML = `<!doctype html>
<html><head><title>The &amp; title</title><style>body { color: red }</style></head>
<body>
<nav><a href="/menu">Menu</a></nav>
<h1>Sockets</h1>
<p>They are <b>fast</b>, see <a href="/more">more</a>.</p>
<script>alert("never shown")</script>
<!-- a remark -->
<pre><code class="language-js">let a = 1;
</code></pre>
<table><tr><th>name</th><th>size</th></tr><tr><td>a</td><td>1</td></tr></table>
<img src="data:image/png;base64,AAAA">
</body></html>`;

/** What a test gets: the results of its fetches in their order. */
interface Fetched {
  readonly p: TestProject;
  readonly web: WebServer;
  readonly server: ModelServer;
  readonly results: readonly string[];
}

/** Fetches pages in one turn, all in one answer of the model; paths are put after the address. */
function fetching(
  pages: Readonly<Record<string, Page>>,
  calls: (url: string) => readonly Keys[],
  body: (fetched: Fetched) => Promise<void> | void,
  keys: Keys = {},
): Promise<void> {
  return withProject(async (p) => {
    const web = await startWebServer(pages);
    p.defer(() => web.close());
    const toolCalls = calls(web.url).map((args) => ({ name: "fetch", arguments: args }));
    const server = await oneAgent(
      p,
      ({ last }: RecordedRequest) => last.role === "tool" ? { text: "Done." } : { toolCalls },
      { yolo: true, ...keys },
    );
    await p.runMm(["-p", "Go"], { timeoutMs: 60_000 });
    const results = (server.requests[1]?.messages ?? []).filter((m) => m.role === "tool")
      .map((m) => String(m.content));
    await body({ p, web, server, results });
  });
}

test("a page comes as Markdown, without what is not for readers", () =>
  fetching(
    { "/": page("text/html; charset=utf-8", HTML) },
    (url) => [{ url: `${url}/` }],
    ({ results: [result = ""], web }) => {
      const [facts, ...rest] = result.split("\n");
      assert.equal(
        facts,
        `[HTTP 200 OK, ${web.url}/, text/html, ${HTML.length} bytes, as Markdown]`,
      );
      assert.equal(
        rest.join("\n"),
        "# Sockets\n\nThey are **fast**, see [more](/more).\n\n```js\nlet a = 1;\n\n```\n\n" +
          "| name | size |\n| ---- | ---- |\n| a    | 1    |",
      );
    },
  ));

test("text, JSON and pages in other character sets come as they are", () =>
  fetching(
    {
      "/a": page("text/plain", "a < b\n"),
      "/b": page("application/json", '{"a": [1, 2]}'),
      "/c": page("application/vnd.api+json", "{}"),
      "/d": page(undefined, "plain"),
      "/e": page("application/octet-stream", "# also text\n"),
      "/f": page("text/plain; charset=iso-8859-1", new Uint8Array([0x63, 0x61, 0x66, 0xe9])),
      "/g": page(
        "text/html",
        new Uint8Array([
          ...new TextEncoder().encode('<meta charset="windows-1252"><p>caf'),
          0xe9,
        ]),
      ),
      "/h": page(undefined, "<!DOCTYPE html><html><title>T</title><p>unnamed</p></html>"),
      "/i": page("text/plain", ""),
    },
    (url) => [..."abcdefghi"].map((name) => ({ url: `${url}/${name}` })),
    ({ results }) => {
      const texts = results.map((result) => result.slice(result.indexOf("\n") + 1));
      assert.deepEqual(texts.slice(0, 8), [
        "a < b\n",
        '{"a": [1, 2]}',
        "{}",
        "plain",
        "# also text\n",
        "café",
        "café",
        "# T\n\nunnamed",
      ]);
      assert.match(results[8] ?? "", /^\[HTTP 200 OK, .*, 0 bytes\]$/);
    },
  ));

test("what is no text is refused with its type and size", () =>
  fetching(
    {
      "/a": page("image/png", new Uint8Array(300)),
      "/b": page("application/octet-stream", new Uint8Array([0x25, 0x50, 0x44, 0x46, 0x2d, 0x31])),
      "/c": page("text/plain", new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 0, 0])),
    },
    (url) => ["a", "b", "c"].map((name) => ({ url: `${url}/${name}` })),
    ({ results }) => {
      assert.match(
        results[0] ?? "",
        /300 bytes: image\/png, which is not text and is not shown\]$/,
      );
      assert.match(results[1] ?? "", /6 bytes: PDF document, which is not text/);
      assert.match(results[2] ?? "", /6 bytes: ELF program, which is not text/);
    },
  ));

test("an error status is a failed call that shows what the server says", () =>
  fetching(
    { "/500": (response) => response.writeHead(500).end("out of order") },
    (url) => [{ url: `${url}/nothing` }, { url: `${url}/500` }],
    ({ results }) => {
      assert.match(results[0] ?? "", /^\[HTTP 404 Not Found, .*as Markdown\]\n# Not here$/);
      assert.match(results[1] ?? "", /^\[HTTP 500 Internal Server Error, .*\]\nout of order$/);
    },
  ));

test("redirects inside the host are followed, five at most; another host is told", () =>
  fetching(
    {
      "/1": redirect("/2"),
      "/2": redirect("3", 301),
      "/3": redirect("/4", 307),
      "/4": redirect("/5", 308),
      "/5": redirect("/end", 303),
      "/end": page("text/plain", "here"),
      "/0": redirect("/1"),
      "/loop": redirect("/loop"),
      "/away": redirect("http://localhost:1/inside?x=1"),
      "/file": redirect("file:///etc/passwd"),
      "/login": redirect("http://a:b@127.0.0.1/"),
    },
    (url) => ["1", "0", "loop", "away", "file", "login"].map((name) => ({ url: `${url}/${name}` })),
    ({ results, web }) => {
      assert.match(results[0] ?? "", /^\[HTTP 200 OK, .*\/end, .*\]\nhere$/);
      assert.match(results[1] ?? "", /^Cannot get ".*\/0": it redirects more than 5 times$/);
      assert.match(results[2] ?? "", /it redirects more than 5 times$/);
      assert.match(
        results[3] ?? "",
        /redirects to another host: http:\/\/localhost:1\/inside\?x=1; get that if you want it\]$/,
      );
      assert.match(
        results[4] ?? "",
        /^Cannot follow .* to "file:\/\/\/etc\/passwd": the URL has to begin/,
      );
      assert.match(results[5] ?? "", /must not hold a user name or a password$/);
      assert.equal(web.requests.filter(({ path }) => path === "/loop").length, 6);
    },
  ));

test("addresses that are none, other schemes and passwords are refused before anybody is asked", () =>
  fetching(
    {},
    () => [
      { url: "example.com/page" },
      { url: "file:///etc/passwd" },
      { url: "javascript:alert(1)" },
      { url: "http://me:secret@127.0.0.1/" },
      { url: "" },
      {},
    ],
    ({ results, web }) => {
      assert.match(results[0] ?? "", /^Wrong arguments for fetch: "url": has to be a whole URL/);
      assert.match(results[1] ?? "", /has to begin with http:\/\/ or https:\/\/, not file:/);
      assert.match(results[2] ?? "", /not javascript:/);
      assert.match(results[3] ?? "", /must not hold a user name or a password/);
      assert.match(results[4] ?? "", /has to be a whole URL/);
      assert.match(results[5] ?? "", /"url" is missing/);
      assert.equal(web.requests.length, 0);
    },
  ));

test("max_chars and maxOutput bound the text, and the facts say so", () =>
  fetching(
    {
      "/t": page("text/plain", "0123456789".repeat(500)),
      "/h": page("text/html", `<h1>A</h1>${"<p>a paragraph of text</p>".repeat(5000)}`),
    },
    (url) => [
      { url: `${url}/t`, max_chars: 25 },
      { url: `${url}/t` },
      { url: `${url}/h`, max_chars: "50" },
    ],
    ({ results }) => {
      assert.match(
        results[0] ?? "",
        /; the first 25 characters of 5000\]\n0123456789012345678901234$/,
      );
      assert.ok((results[1]?.length ?? 0) <= 2000);
      assert.match(results[1] ?? "", /; the first 1400 characters of 5000\]\n/);
      assert.match(results[2] ?? "", /; the first 50 characters; there is more\]\n# A\n\na par/);
    },
    { maxOutput: 2000 },
  ));

test("a body without end is read up to 5 MiB, and nothing waits for the rest", () =>
  fetching(
    {
      "/": (response) => {
        response.writeHead(200, { "content-type": "text/plain" });
        const piece = "x".repeat(64 * 1024);
        const more = () => {
          while (!response.destroyed && response.write(piece));
        };
        response.on("drain", more);
        more();
      },
    },
    (url) => [{ url: `${url}/` }],
    ({ results: [result = ""] }) => {
      assert.match(
        result,
        /more than 5242880 bytes, the rest not read; the first \d+ characters of/,
      );
    },
  ));

test("a server that is not there is a result that says why", () =>
  fetching(
    {},
    () => [{ url: "http://127.0.0.1:9/" }, { url: "http://no-such-host.invalid/" }],
    ({ results }) => {
      assert.match(results[0] ?? "", /^Cannot get "http:\/\/127\.0\.0\.1:9\/": /);
      assert.match(results[1] ?? "", /^Cannot get "http:\/\/no-such-host\.invalid\/": /);
    },
  ));

test("the request has no cookies and no credentials, and says who asks", () =>
  fetching(
    { "/": (response) => response.setHeader("set-cookie", "a=b").end("x") },
    (url) => [{ url: `${url}/` }, { url: `${url}/` }],
    ({ web }) => {
      for (const { headers } of web.requests) {
        assert.equal(headers.cookie, undefined);
        assert.equal(headers.authorization, undefined);
        assert.equal(headers["user-agent"], "mm (coding agent)");
      }
    },
  ));

test("it asks with the whole address as it is really asked; rules compare the same", () =>
  withProject(async (p) => {
    const web = await startWebServer({ "/docs/a": page("text/plain", "the docs") });
    p.defer(() => web.close());
    const port = web.url.slice(web.url.lastIndexOf(":") + 1);
    const urls = [
      // Three spellings of an address that is denied.
      `HTTP://127.0.0.1:${port}/private/x`,
      `http:127.0.0.1:${port}/docs/../private/x`,
      `http://127.1:${port}/private/x`,
      `${web.url}/docs/a`,
      `${web.url}/other?q=1#top`,
    ];
    const server = await oneAgent(
      p,
      ({ last }) =>
        last.role === "tool" ? { text: "Done." } : {
          toolCalls: urls.map((url) => ({ name: "fetch", arguments: { url } })),
        },
      {
        permissions: {
          allow: [`fetch(${web.url}/docs/*)`],
          deny: [`fetch(${web.url}/private/*)`],
        },
      },
    );
    const editor = p.editor();
    const session = await editor.start();
    editor.onPermission = "reject_once";
    await editor.prompt(session, "Go");
    const results = (server.requests[1]?.messages ?? []).filter((m) => m.role === "tool")
      .map((m) => String(m.content));
    for (const denied of results.slice(0, 3)) {
      assert.match(denied, /^Not run: the rule .* denies fetch/);
    }
    assert.match(results[3] ?? "", /\nthe docs$/);
    assert.match(results[4] ?? "", /^Not run: the user rejected/);
    assert.deepEqual(
      editor.permissions.map(({ toolCall }) => [toolCall.title, toolCall.kind, toolCall.rawInput]),
      [[`${web.url}/other?q=1#top`, "fetch", { url: `${web.url}/other?q=1#top` }]],
    );
    assert.deepEqual(web.requests.map(({ path }) => path), ["/docs/a"]);
  }));

test("a cancel ends a request that hangs", () =>
  withProject(async (p) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const web = await startWebServer({ "/": () => resolve() });
    p.defer(() => web.close());
    await oneAgent(
      p,
      () => ({ toolCalls: [{ name: "fetch", arguments: { url: `${web.url}/` } }] }),
      { yolo: true },
    );
    const editor = p.editor();
    const session = await editor.start();
    const prompt = editor.prompt(session, "Go");
    await promise;
    editor.cancel(session);
    assert.equal((await prompt).stopReason, "cancelled");
    assert.equal(editor.toolCalls(session)[0].status, "failed");
  }));
