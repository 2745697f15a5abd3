/**
 * From YAML text to plain values, with the place of each value and everything that is wrong with the
 * text itself.
 *
 * The nodes are walked here and not by the library, because a configuration may come from a
 * stranger's repository: aliases that multiply, values nested without end and keys such as
 * `__proto__` have to end in a message.
 *
 * @module
 */
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type ParsedNode,
  parseDocument,
} from "yaml";
import { interpolate } from "./interpolate.ts";
import { formatPath, type KeyPath, type Position, type Problem, problemAt } from "./problems.ts";
import { yamlErrorText } from "./yaml_errors.ts";

/** Options of {@linkcode readYaml}. */
export interface ReadYamlOptions {
  /** Named in the problems. */
  readonly file: string;
  /** Where `${NAME}` is read. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What a text says. */
export interface YamlSource {
  /** Maps without a prototype, arrays, strings, numbers, booleans and null. */
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /** The place of a value, or of its key; of the nearest one above where there is no such value. */
  place(path: KeyPath, of: "key" | "value"): Position;
  /** The text a value has in the file, where variables were replaced in it. */
  written(path: KeyPath): string | undefined;
  /** Whether the value itself already has a problem, so that there is nothing more to say. */
  failed(path: KeyPath): boolean;
}

/** Deeper values are refused; the deepest key of the schema is at level 5. */
const MAX_DEPTH = 32;

/** More values are refused, counting what aliases repeat. */
const MAX_VALUES = 20_000;

/** Parses a configuration's text. Never throws for what the text holds. */
export function readYaml(text: string, options: ReadYamlOptions): YamlSource {
  const lines = new LineCounter();
  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const parsed = parse(text, lines);
  const walk = new Walk(options, at);
  if (parsed === undefined) {
    walk.problem(0, "The file cannot be parsed: its values are nested too deeply");
    return walk.finish(undefined);
  }
  const reported = new Set<number>();
  for (const { code, pos: [offset] } of [...parsed.errors, ...parsed.warnings]) {
    const { line } = at(offset);
    if (reported.has(line)) continue;
    reported.add(line);
    walk.problem(offset, yamlErrorText(code, { text, offset }));
    // From here on the parser is out of step: all that follows is a consequence.
    if (code === "UNEXPECTED_TOKEN" || code === "MISSING_CHAR") break;
  }
  // What a broken text seems to say would only lead to more, misleading problems.
  if (walk.problems.length > 0) return walk.finish(undefined);
  return walk.finish(walk.value(parsed.contents, [], 0));
}

function parse(text: string, lineCounter: LineCounter): Document.Parsed | undefined {
  try {
    return parseDocument(text, {
      lineCounter,
      // Its excerpts of the source could hold a secret.
      prettyErrors: false,
      stringKeys: true,
      // Found by the walk, which knows the key's path.
      uniqueKeys: false,
      // Whatever version the text declares: `yes` is text and `<<` an ordinary key.
      schema: "core",
      merge: false,
      resolveKnownTags: false,
      logLevel: "error",
    });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

class Walk {
  readonly problems: Problem[] = [];
  readonly #options: ReadYamlOptions;
  readonly #at: (offset: number) => Position;
  readonly #keys = new Map<string, Position>();
  readonly #values = new Map<string, Position>();
  readonly #written = new Map<string, string>();
  readonly #failed = new Set<string>();
  readonly #anchors = new Map<string, Node>();
  readonly #open = new Set<Node>();
  #count = 0;

  constructor(options: ReadYamlOptions, at: (offset: number) => Position) {
    this.#options = options;
    this.#at = at;
  }

  problem(offset: number, text: string): void {
    this.problems.push(problemAt(this.#options.file, this.#at(offset), text));
  }

  /** Returns the value of a node. `from` is where an alias of it stands, for its place. */
  value(node: ParsedNode | Node | null, path: KeyPath, depth: number, from?: number): unknown {
    const offset = from ?? node?.range?.[0] ?? 0;
    this.#values.set(idOf(path), this.#at(offset));
    if (node === null) return null;
    if (++this.#count > MAX_VALUES) {
      // Said once; the walk goes on only to come back to the top.
      if (this.#count === MAX_VALUES + 1) {
        this.problem(offset, `The file holds more than ${MAX_VALUES} values, aliases counted`);
      }
      return this.#fail(path);
    }
    if (depth > MAX_DEPTH) {
      this.problem(offset, `The value is nested more than ${MAX_DEPTH} levels deep`);
      return this.#fail(path);
    }
    if (isAlias(node)) return this.#alias(node.source, offset, path, depth);
    if (from === undefined && node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    this.#open.add(node);
    try {
      if (isMap(node)) return this.#map(node.items, path, depth, from);
      if (isSeq(node)) {
        return node.items.map((item, i) => this.value(item as Node, [...path, i], depth + 1, from));
      }
      return this.#scalar(isScalar(node) ? node.value : null, offset, path);
    } finally {
      this.#open.delete(node);
    }
  }

  #map(
    items: readonly { readonly key: unknown; readonly value: unknown }[],
    path: KeyPath,
    depth: number,
    from: number | undefined,
  ): Record<string, unknown> {
    const map: Record<string, unknown> = Object.create(null);
    for (const item of items) {
      const key = isScalar(item.key) ? String(item.key.value ?? "") : "";
      const offset = from ?? (isScalar(item.key) ? item.key.range?.[0] : undefined) ?? 0;
      const keyPath = [...path, key];
      const id = idOf(keyPath);
      const first = this.#keys.get(id);
      if (Object.hasOwn(map, key) && first !== undefined) {
        this.problem(
          offset,
          `duplicate key "${formatPath(keyPath)}"; it stands on line ${first.line} already`,
        );
        continue;
      }
      if (key === "__proto__") {
        this.problem(offset, `unknown key "${formatPath(keyPath)}"`);
        continue;
      }
      this.#keys.set(id, this.#at(offset));
      map[key] = this.value(item.value as Node | null, keyPath, depth + 1, from);
      // A key without anything after it, as in `{model}`: its place is the key's.
      if (item.value === null) this.#values.set(id, this.#at(offset));
    }
    return map;
  }

  #scalar(value: unknown, offset: number, path: KeyPath): unknown {
    if (typeof value !== "string") return value;
    const result = interpolate(value, this.#options.env);
    if ("error" in result) {
      this.problem(offset, `"${formatPath(path)}" ${result.error}`);
      return this.#fail(path);
    }
    if (result.changed) this.#written.set(idOf(path), value);
    return result.text;
  }

  #alias(name: string, offset: number, path: KeyPath, depth: number): unknown {
    const node = this.#anchors.get(name);
    if (node === undefined) {
      this.problem(
        offset,
        `"${formatPath(path)}" refers to an anchor that does not stand before it`,
      );
      return this.#fail(path);
    }
    if (this.#open.has(node)) {
      this.problem(offset, `"${formatPath(path)}" refers to a value that contains it`);
      return this.#fail(path);
    }
    return this.value(node, path, depth, offset);
  }

  /** Something has to stand there, so that the key does not count as missing. */
  #fail(path: KeyPath): string {
    this.#failed.add(idOf(path));
    return "";
  }

  finish(value: unknown): YamlSource {
    return {
      value,
      problems: this.problems,
      place: (path, of) => {
        const own = (of === "key" ? this.#keys : this.#values).get(idOf(path));
        if (own !== undefined) return own;
        for (let length = path.length - 1; length > 0; length--) {
          const above = this.#keys.get(idOf(path.slice(0, length)));
          if (above !== undefined) return above;
        }
        return this.#values.get(idOf([])) ?? { line: 1, column: 1 };
      },
      written: (path) => this.#written.get(idOf(path)),
      failed: (path) => this.#failed.has(idOf(path)),
    };
  }
}

function idOf(path: KeyPath): string {
  return JSON.stringify(path);
}
