/**
 * Where a model is asked and with which key: the configuration and the provider's preset, joined.
 *
 * @module
 */
import type { ModelConfig, ProviderName } from "../config/types.ts";
import { UsageError } from "../base/errors.ts";
import { redactor } from "../base/secrets.ts";
import { type Preset, PRESETS } from "./presets.ts";

/** A model server, ready to be asked. */
export interface Endpoint {
  readonly preset: Preset;
  /** Absolute, without a trailing slash, credentials or query: `http://127.0.0.1:8080/v1`. */
  readonly baseUrl: string;
  /** The base URL without the version: where servers keep their own, other interfaces. */
  readonly root: string;
  /** All headers of a request, with the key. */
  readonly headers: Readonly<Record<string, string>>;
  /** Replaces the key and the values of all headers in a text. */
  readonly redact: (text: string) => string;
  /** Whether the server is on this machine or in this network, so that it may still be starting. */
  readonly local: boolean;
}

/** Variables of an environment. */
export type Env = Readonly<Record<string, string | undefined>>;

/** Returns the provider a configuration means: the one it names, or `custom` for a bare URL. */
export function providerOf(config: ModelConfig): ProviderName | undefined {
  return config.provider ?? (config.baseUrl === undefined ? undefined : "custom");
}

/**
 * Joins a configuration with its provider's preset.
 *
 * The key is the configured one, else the one in the variable of this very provider: another
 * provider's key is never sent.
 *
 * @throws {UsageError} when the URL is missing or wrong, or a key is needed and there is none.
 */
export function endpointOf(config: ModelConfig, env: Env): Endpoint {
  const name = providerOf(config);
  if (name === undefined || name === "demo") {
    throw new UsageError(
      `Cannot choose a model server: set "provider", or "baseUrl" for another server`,
    );
  }
  const preset = PRESETS[name];
  const given = config.baseUrl ?? preset.baseUrl;
  if (given === undefined) {
    throw new UsageError(
      `The provider "${name}" needs "baseUrl", for example "http://127.0.0.1:8080/v1"`,
    );
  }
  const url = parseUrl(given);
  const key = nonEmpty(config.apiKey) ??
    nonEmpty(preset.keyVariable === undefined ? undefined : env[preset.keyVariable]);
  const credentials = credentialsOf(url);
  if (key === undefined && preset.needsKey && config.baseUrl === undefined) {
    throw new UsageError(
      `${preset.title} needs an API key: set ${preset.keyVariable} in the environment, ` +
        `or "apiKey: \${${preset.keyVariable}}" in the configuration`,
    );
  }
  const headers: Record<string, string> = {};
  if (key !== undefined) headers["authorization"] = `Bearer ${key}`;
  else if (credentials !== undefined) headers["authorization"] = credentials;
  for (const [header, value] of Object.entries(config.headers ?? {})) {
    headers[header.toLowerCase()] = value;
  }
  checkHeaders(headers);
  const baseUrl = url.origin + pathOf(url);
  return {
    preset,
    baseUrl,
    root: baseUrl.replace(/\/v1$/u, ""),
    headers,
    // A gateway's password may have any name: all that was configured counts as secret.
    redact: redactor([key, url.password, ...Object.values(headers)]),
    local: preset.local || isLocalHost(url.hostname),
  };
}

function parseUrl(text: string): URL {
  // Node 20 has no URL.parse().
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    throw new UsageError(
      `"baseUrl" is "${hidePassword(text)}": it has to be a URL like "http://127.0.0.1:8080/v1"`,
    );
  }
  return url;
}

function hidePassword(text: string): string {
  return text.replace(/\/\/[^/@\s]*@/u, "//").replace(/\?.*$/su, "");
}

/** Returns the path without a trailing slash: `/v1` for a bare address, the whole one otherwise. */
function pathOf(url: URL): string {
  const path = url.pathname.replace(/\/+$/u, "").replace(/\/chat\/completions$/u, "");
  return path === "" ? "/v1" : path;
}

/** fetch() refuses credentials in a URL; they become the header they stand for. */
function credentialsOf(url: URL): string | undefined {
  if (url.username === "" && url.password === "") return undefined;
  const text = `${decoded(url.username)}:${decoded(url.password)}`;
  const bytes = new TextEncoder().encode(text);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    try {
      new Headers([[name, value]]);
    } catch (cause) {
      // The value is not shown: it may be the key.
      const what = name === "authorization" ? "the API key" : `the header "${name}"`;
      throw new UsageError(
        `Cannot send ${what}: it contains a character that is not allowed in a header, ` +
          `such as a line break`,
        { cause },
      );
    }
  }
}

function isLocalHost(host: string): boolean {
  return host === "localhost" || host === "[::1]" || host.endsWith(".local") ||
    !/[.:]/u.test(host) || /^(127|10|192\.168|172\.(1[6-9]|2\d|3[01]))\./u.test(host);
}

function nonEmpty(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed === undefined || trimmed === "" ? undefined : trimmed;
}
