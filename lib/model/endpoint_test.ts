import { test } from "node:test";
import assert from "node:assert/strict";
import process from "node:process";
import { endpointOf } from "./endpoint.ts";
import { askOnce, delta, events, startRawServer, STREAM_HEAD } from "./testing.ts";

const GOOD = STREAM_HEAD + events(delta({ content: "ok" }, "stop")) + "data: [DONE]\n\n";

test("endpointOf() completes a bare address and drops what is not the base", () => {
  const base = (baseUrl: string) => endpointOf({ baseUrl }, {}).baseUrl;
  assert.equal(base("http://127.0.0.1:8080"), "http://127.0.0.1:8080/v1");
  assert.equal(base("http://127.0.0.1:8080/"), "http://127.0.0.1:8080/v1");
  assert.equal(base("http://h/v1/"), "http://h/v1");
  assert.equal(base("https://h/api/v3/chat/completions"), "https://h/api/v3");
  assert.equal(base("https://user:pass@h/v1?key=abc#x"), "https://h/v1");
});

test("endpointOf() takes the key of its own provider only", () => {
  const env = { OPENAI_API_KEY: "openai-key-1", GROQ_API_KEY: "groq-key-123" };
  const auth = (...args: Parameters<typeof endpointOf>) =>
    endpointOf(...args).headers["authorization"];
  assert.equal(auth({ provider: "openai" }, env), "Bearer openai-key-1");
  assert.equal(auth({ provider: "groq" }, env), "Bearer groq-key-123");
  assert.equal(auth({ provider: "groq", apiKey: "mine-12345" }, env), "Bearer mine-12345");
  assert.equal(auth({ provider: "llamacpp" }, env), undefined);
  assert.equal(auth({ baseUrl: "http://127.0.0.1:1/v1" }, env), undefined);
  assert.equal(auth({ baseUrl: "http://u:p%20w@h/v1" }, env), `Basic ${btoa("u:p w")}`);
});

test("endpointOf() says what is missing or wrong and never shows a secret", () => {
  const refused = (config: Parameters<typeof endpointOf>[0], message: RegExp) =>
    assert.throws(() => endpointOf(config, {}), { name: "UsageError", message });
  refused({ provider: "custom" }, /The provider "custom" needs "baseUrl"/u);
  refused({ provider: "openai" }, /OpenAI needs an API key: set OPENAI_API_KEY/u);
  refused({ baseUrl: "localhost:8080" }, /"baseUrl" is "localhost:8080": it has to be a URL/u);
  refused({ baseUrl: "ftp://u:hunter2@h/" }, /"baseUrl" is "ftp:\/\/h\/"/u);
  refused(
    { baseUrl: "http://h", apiKey: "line\nbreak-secret" },
    /^Cannot send the API key: it con[^-]*$/u,
  );
  refused({}, /set "provider"/u);
});

test("the key and every configured header are taken out of what a server says", () => {
  const { redact } = endpointOf({
    baseUrl: "http://u:pass-word@h",
    apiKey: "hunter2-key",
    headers: { "x-team": "correct horse", "X-Proxy": "Bearer battery-staple" },
  }, {});
  assert.equal(
    redact("hunter2-key, correct horse, battery-staple, pass-word and the rest"),
    "[secret], [secret], [secret], [secret] and the rest",
  );
});

test("the headers of a request are mm's and the configuration's, none of the environment", async () => {
  const leaks = {
    OPENAI_API_KEY: "sk-of-somebody-else",
    OPENAI_ADMIN_KEY: "sk-admin-of-somebody",
    OPENAI_ORG_ID: "org-leak",
    OPENAI_PROJECT_ID: "proj-leak",
    OPENAI_CUSTOM_HEADERS: "x-leak: header-leak",
    OPENAI_BASE_URL: "http://127.0.0.1:9/leak",
    OPENAI_LOG: "debug",
  };
  const before = Object.keys(leaks).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, leaks);
  try {
    await using server = await startRawServer((socket) => void socket.end(GOOD));
    const config = { baseUrl: server.url, model: "m", headers: { "X-Mine": "yes" } };
    await askOnce(server, { client: { config } });
    const headers = server.chats[0]?.headers ?? {};
    assert.equal(headers["x-mine"], "yes");
    assert.equal(headers["authorization"], undefined);
    assert.equal(headers["x-mm-call"], undefined);
    const all = JSON.stringify(headers);
    assert(!/leak|somebody|stainless|openai/iu.test(all), all);
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
});
