/**
 * What must hold for every request mm sends to a model, whatever a test is about: strict roles, a
 * stable prefix, well-formed text, no secret.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { ParsedRequest } from "./parsed_request.ts";
import { prefixFault } from "./prefix_check.ts";
import { rawElements, rawMembers } from "./raw_json.ts";
import { roleFaults } from "./role_check.ts";
import type { WireBody } from "./wire.ts";

/** A request, as the checks need it. */
export interface CheckedRequest {
  /** The body as it came. */
  readonly bytes: Uint8Array;
  /** True when a test announced that this request may begin with something new. */
  readonly newPrefix?: boolean;
}

/** Options of {@linkcode checkRequests}. */
export interface CheckOptions {
  /** Texts that must occur in no request. */
  readonly secrets?: readonly string[];
}

/** Returns one line for each rule that a request breaks, in the order of the requests. */
export function checkRequests(
  requests: readonly CheckedRequest[],
  options: CheckOptions = {},
): string[] {
  const faults: string[] = [];
  const earlier: ParsedRequest[] = [];
  for (const [index, request] of requests.entries()) {
    const number = index + 1;
    const say = (fault: string) => faults.push(`request ${number}: ${fault}`);
    const raw = decode(request.bytes);
    if (raw === undefined) {
      say("the body is not valid UTF-8");
      continue;
    }
    const parsed = parse(raw, number, request.newPrefix ?? false);
    if (typeof parsed === "string") {
      say(parsed);
      continue;
    }
    for (const path of loneSurrogates(parsed.body, "")) say(`lone surrogate in ${path}`);
    for (const secret of options.secrets ?? []) {
      const at = indexOfSecret(raw, secret);
      if (at >= 0) say(`the body holds a secret at byte ${byteAt(raw, at)}`);
    }
    for (const fault of roleFaults(parsed.body.messages ?? [])) say(fault);
    const prefix = prefixFault(parsed, earlier);
    if (prefix !== undefined) say(prefix);
    earlier.push(parsed);
  }
  return faults;
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function parse(raw: string, number: number, newPrefix: boolean): ParsedRequest | string {
  try {
    const members = rawMembers(raw);
    const messages = members.get("messages");
    if (messages === undefined) return "the body has no messages";
    return {
      number,
      body: JSON.parse(raw) as WireBody,
      head: `{"model":${members.get("model")},"tools":${members.get("tools")}}`,
      messages: rawElements(messages),
      newPrefix,
    };
  } catch (error) {
    return `the body is no JSON object with messages: ${(error as Error).message}`;
  }
}

/** The paths of strings that hold half a surrogate pair. */
function loneSurrogates(value: unknown, path: string): string[] {
  if (typeof value === "string") return value.isWellFormed() ? [] : [path];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    ...(key.isWellFormed() ? [] : [`a key of ${path}`]),
    ...loneSurrogates(inner, path === "" ? key : `${path}.${key}`),
  ]);
}

/** Where a secret stands, as it is or as JSON writes it. */
function indexOfSecret(raw: string, secret: string): number {
  const plain = raw.indexOf(secret);
  return plain >= 0 ? plain : raw.indexOf(JSON.stringify(secret).slice(1, -1));
}

function byteAt(text: string, index: number): number {
  return Buffer.byteLength(text.slice(0, index));
}
