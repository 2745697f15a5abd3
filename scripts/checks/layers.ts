/**
 * The rules of the source tree: layers with one direction, no cycles, the platform's name in one
 * folder, files of a readable size.
 *
 * @module
 */
import { posix } from "node:path";
import { maskSource } from "./mask_source.ts";

/** The layers, each allowed to import itself and those before it. */
export const LAYERS = [
  "base",
  "platform",
  "config",
  "hooks",
  "model",
  "gate",
  "tools",
  "mcp",
  "engine",
  "store",
  "agents",
  "delegation",
  "session",
  "acp",
  "cli",
] as const;

/** Lines of the longest file that is allowed. */
export const MAX_LINES = 500;

/** A TypeScript file: its path from the repository's root with `/`, and its text. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** What was found. */
export interface LayersReport {
  /** One line each: path, line where there is one, what is wrong and what to do. */
  readonly faults: readonly string[];
  /** Lines of the files under `lib/` that are no tests. */
  readonly median: number;
  readonly p90: number;
  readonly max: number;
  readonly files: number;
}

interface Import {
  readonly specifier: string;
  readonly line: number;
}

const IMPORT = /\b(?:from\s*|import\s*\(?\s*)(["'])/gu;

/** Checks all files against the rules. */
export function checkLayers(files: readonly SourceFile[]): LayersReport {
  const faults: string[] = [];
  const graph = new Map<string, string[]>();
  for (const file of files) {
    const masked = maskSource(file.text);
    const imports = importsOf(masked);
    const product = isProduct(file.path);
    const targets: string[] = [];
    for (const { specifier, line } of imports) {
      const fault = specifierFault(specifier);
      if (fault !== undefined) faults.push(`${file.path}:${line}: ${fault}`);
      if (!specifier.startsWith(".")) continue;
      const target = posix.normalize(posix.join(posix.dirname(file.path), specifier));
      targets.push(target);
      if (product) faults.push(...directionFaults(file.path, target, line));
    }
    graph.set(file.path, targets);
    if (product) faults.push(...placeFaults(file.path), ...wordFaults(file.path, masked.code));
    const lines = lineCount(file.text);
    if (lines > MAX_LINES) {
      faults.push(`${file.path}: has ${lines} lines; split it, the limit is ${MAX_LINES}`);
    }
  }
  for (const cycle of cyclesOf(graph)) {
    faults.push(`${cycle[0]}: import cycle ${cycle.join(" -> ")}`);
  }
  const sizes = files
    .filter((f) => f.path.startsWith("lib/") && !isTest(f.path))
    .map((f) => lineCount(f.text))
    .sort((a, b) => a - b);
  const at = (share: number) => sizes[Math.min(sizes.length - 1, Math.floor(sizes.length * share))];
  return {
    faults,
    files: sizes.length,
    median: at(0.5) ?? 0,
    p90: at(0.9) ?? 0,
    max: sizes.at(-1) ?? 0,
  };
}

/** `lib/`, `mod.ts` and `cli.ts`, without tests, are the program; the rest works on it. */
function isProduct(path: string): boolean {
  return !isTest(path) && (path.startsWith("lib/") || !path.includes("/"));
}

function isTest(path: string): boolean {
  return path.endsWith("_test.ts");
}

function lineCount(text: string): number {
  return text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}

function importsOf(masked: ReturnType<typeof maskSource>): Import[] {
  const found: Import[] = [];
  for (const match of masked.code.matchAll(IMPORT)) {
    const quote = match.index + match[0].length - 1;
    const specifier = masked.strings.get(quote);
    if (specifier !== undefined) {
      found.push({ specifier, line: lineAt(masked.code, match.index) });
    }
  }
  return found;
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

function specifierFault(specifier: string): string | undefined {
  if (/^(?:npm|jsr|https?):/u.test(specifier)) {
    return `imports "${specifier}"; map it in deno.json and import the bare name`;
  }
  if (/^\.{1,2}\//u.test(specifier) && !/\.(?:ts|json)$/u.test(specifier)) {
    return `imports "${specifier}"; a relative import ends in .ts`;
  }
  return undefined;
}

/** `lib/<layer>/…` has the index of its layer; `mod.ts` and `cli.ts` stand above all. */
function layerOf(path: string): number | undefined {
  const folder = /^lib\/([^/]+)\//u.exec(path)?.[1];
  if (folder === undefined) return undefined;
  return LAYERS.findIndex((layer) => layer === folder);
}

function placeFaults(path: string): string[] {
  if (!path.startsWith("lib/") || (layerOf(path) ?? -1) >= 0) return [];
  return [`${path}: is in no known layer; the layers are ${LAYERS.join(" < ")}`];
}

function directionFaults(path: string, target: string, line: number): string[] {
  const from = layerOf(path);
  const to = layerOf(target);
  if (from === undefined || from < 0) return [];
  if (to === undefined || to < 0) {
    return [`${path}:${line}: imports "${target}", which is outside the layers`];
  }
  if (to <= from) return [];
  return [
    `${path}:${line}: layer "${LAYERS[from]}" imports "${target}" of the higher layer ` +
    `"${LAYERS[to]}"; the direction is ${LAYERS.join(" < ")}`,
  ];
}

function wordFaults(path: string, code: string): string[] {
  const rules: { readonly word: RegExp; readonly allowed: RegExp; readonly say: string }[] = [
    {
      word: /\bDeno\b(?=\s*[.?[])/gu,
      allowed: /^lib\/platform\//u,
      say: 'says "Deno."; only lib/platform may',
    },
    {
      word: /\bprocess\s*\??\.\s*env\b/gu,
      allowed: /^(?:lib\/platform\/|lib\/cli\/|cli\.ts$)/u,
      say: 'reads "process.env"; take the environment as a value',
    },
    {
      word: /\bprocess\s*\??\.\s*cwd\b/gu,
      allowed: /^(?:lib\/cli\/|cli\.ts$)/u,
      say: 'reads "process.cwd"; take the directory as a value',
    },
  ];
  return rules
    .filter((rule) => !rule.allowed.test(path))
    .flatMap((rule) =>
      [...code.matchAll(rule.word)].map((m) => `${path}:${lineAt(code, m.index)}: ${rule.say}`)
    );
}

/** Every cycle once, as the files it goes through, the first one again at its end. */
function cyclesOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const cycles: string[][] = [];
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string) => {
    const start = path.indexOf(file);
    if (start >= 0) {
      cycles.push([...path.slice(start), file]);
      return;
    }
    if (done.has(file)) return;
    path.push(file);
    for (const next of graph.get(file) ?? []) visit(next);
    path.pop();
    done.add(file);
  };
  for (const file of [...graph.keys()].sort()) visit(file);
  return cycles;
}
