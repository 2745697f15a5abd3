/**
 * Pieces to tool calls: ids, indexes and arguments as servers really send them.
 *
 * @module
 */
import type { ToolCallRequest } from "../base/tool_call.ts";
import { newCallId } from "./call_id.ts";
import type { CallPiece } from "./chunk.ts";
import { asObject, type JsonObject, parseJson } from "./json.ts";

/** A call with what its server wants back. */
export interface FinishedCall {
  readonly call: ToolCallRequest;
  readonly extra?: JsonObject;
}

/** Collects the pieces of an answer's calls. */
export interface CallCollector {
  /** How many calls have begun. */
  readonly size: number;
  /** @throws {RangeError} when there are more calls than any model means. */
  add(piece: CallPiece): void;
  /** Returns the calls in the order in which they began, each with an id of its own. */
  finish(): readonly FinishedCall[];
}

/** What a call is named whose name never came: the model is then told which tools there are. */
export const UNNAMED = "unnamed";

const MAX_CALLS = 1000;

interface Growing {
  id: string | undefined;
  index: number | undefined;
  name: string;
  /** Pieces of JSON text, joined at the end. */
  readonly parts: string[];
  /** Arguments that came as a whole. */
  whole: JsonObject | undefined;
  extra: JsonObject | undefined;
}

/**
 * Creates a collector.
 *
 * Which call a piece belongs to is decided in this order: a known id; an index, unless the piece
 * clearly begins another call (a new id with a name, or a name after complete arguments: some
 * servers number every call 0); else the call that was last added to.
 *
 * @param toolNames the names of the declared tools: they tell a second call from a split name.
 */
export function createCallCollector(toolNames: ReadonlySet<string>): CallCollector {
  const calls: Growing[] = [];
  const byId = new Map<string, Growing>();
  const byIndex = new Map<number, Growing>();
  let current: Growing | undefined;

  return {
    get size() {
      return calls.length;
    },
    add(piece) {
      const call = find(piece) ?? begin(piece);
      current = call;
      if (piece.index !== undefined) byIndex.set(piece.index, call);
      if (piece.id !== undefined && call.id === undefined) {
        call.id = piece.id;
        byId.set(piece.id, call);
      }
      if (piece.name !== undefined) addName(call, piece.name);
      if (typeof piece.arguments === "string") call.parts.push(piece.arguments);
      else if (piece.arguments !== undefined) call.whole = piece.arguments;
      if (piece.extra !== undefined) call.extra = piece.extra;
    },
    finish() {
      const taken = new Set<string>();
      const finished: FinishedCall[] = [];
      for (const call of calls) {
        const text = argumentsOf(call);
        // A piece that says nothing at all began no call.
        if (call.name === "" && text === "") continue;
        let id = call.id ?? newCallId();
        while (taken.has(id)) id = newCallId();
        taken.add(id);
        finished.push({
          call: { id, name: call.name === "" ? UNNAMED : call.name, arguments: text },
          ...(call.extra === undefined ? {} : { extra: call.extra }),
        });
      }
      return finished;
    },
  };

  function find(piece: CallPiece): Growing | undefined {
    const known = piece.id === undefined ? undefined : byId.get(piece.id);
    if (known !== undefined) return repeatsId(known, piece) ? undefined : known;
    const near = piece.index === undefined ? current : byIndex.get(piece.index);
    if (near === undefined) return undefined;
    return beginsAnother(near, piece) ? undefined : near;
  }

  /** Some servers give all calls of an answer the same id; the index then tells them apart. */
  function repeatsId(known: Growing, piece: CallPiece): boolean {
    return piece.name !== undefined && piece.index !== undefined && piece.index !== known.index &&
      isComplete(known);
  }

  function beginsAnother(call: Growing, piece: CallPiece): boolean {
    if (piece.id !== undefined && call.id !== undefined) {
      // A new id without a name in the middle of arguments: a server that makes up an id per piece.
      return piece.name !== undefined || isComplete(call);
    }
    if (piece.name === undefined || call.name === "") return false;
    if (isComplete(call)) return piece.name !== call.name || piece.arguments !== undefined;
    // Nothing but a name so far: another tool's name begins a call, the rest of a name does not.
    return call.parts.length === 0 && piece.name !== call.name && toolNames.has(call.name) &&
      toolNames.has(piece.name);
  }

  function begin(piece: CallPiece): Growing {
    if (calls.length >= MAX_CALLS) {
      throw new RangeError(`The answer calls more than ${MAX_CALLS} tools`);
    }
    const call: Growing = {
      id: undefined,
      index: piece.index,
      name: "",
      parts: [],
      whole: undefined,
      extra: undefined,
    };
    calls.push(call);
    return call;
  }

  function addName(call: Growing, name: string): void {
    // Repeated with every piece, or cut into pieces.
    if (call.name === name || toolNames.has(call.name)) return;
    if (call.parts.length > 0 && call.name !== "") return;
    call.name += name;
  }
}

function isComplete(call: Growing): boolean {
  if (call.whole !== undefined) return true;
  // Looked at before the pieces are joined: this is asked for every piece of long arguments.
  if (call.parts.at(-1)?.trimEnd().endsWith("}") !== true) return false;
  return asObject(parseJson(call.parts.join(""))) !== undefined;
}

/** Returns the arguments as JSON text: empty for none, in whatever way none was written. */
function argumentsOf(call: Growing): string {
  const text = call.parts.join("");
  const trimmed = text.trim();
  if (trimmed === "" || trimmed === "null") {
    return call.whole === undefined ? "" : JSON.stringify(call.whole);
  }
  // An empty object as a placeholder, followed by the real arguments.
  if (trimmed.startsWith("{}{")) {
    const rest = trimmed.slice(2);
    if (asObject(parseJson(rest)) !== undefined) return rest;
  }
  // JSON inside a JSON text.
  if (trimmed.startsWith('"')) {
    const inner = parseJson(trimmed);
    if (typeof inner === "string" && asObject(parseJson(inner)) !== undefined) return inner;
  }
  return text;
}
