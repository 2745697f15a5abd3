/**
 * The definitions of one session: read from their folders, and mm's own.
 *
 * @module
 */
import { didYouMean } from "../base/nearest.ts";
import { quotable } from "../config/problems.ts";
import { BUILTIN_DEFINITIONS } from "./builtin_definitions.ts";
import type {
  AgentDefinition,
  DefinitionBook,
  DefinitionFault,
  UnusedDefinition,
} from "./definition.ts";
import { definitionFiles, type DefinitionPlaces, filesInside } from "./definition_folders.ts";
import { nameKey } from "./definition_name.ts";
import type { ReadDefinition } from "./read_definition.ts";

/** More names are counted in an error, not listed. */
const MAX_NAMES = 50;

/** What was read. */
interface Reading {
  /** By {@linkcode nameKey}: each name, or why it cannot be used. */
  readonly named: ReadonlyMap<string, AgentDefinition | DefinitionFault>;
  readonly faults: readonly DefinitionFault[];
  /** Files whose name another one has. */
  readonly shadowed: readonly UnusedDefinition[];
  /** Folders that are not looked into. */
  readonly inside: readonly string[];
}

/** Reads the definitions of a session. Never throws for what the folders hold. */
export async function openDefinitionBook(places: DefinitionPlaces): Promise<DefinitionBook> {
  const opened = await read(places);
  return {
    offered: Object.freeze(definitionsOf(opened)),
    faults: opened.faults,
    async current() {
      const reading = await read(places);
      const inside = await filesInside(reading.inside);
      return {
        definitions: definitionsOf(reading),
        faults: reading.faults,
        unused: [
          ...reading.shadowed,
          ...inside.map((path) => ({
            path,
            reason: `"${path}" is not used: folders inside of a folder of definitions are not read`,
          })),
        ],
      };
    },
    async find(name, also = []) {
      const reading = await read(places);
      const found = reading.named.get(nameKey(name.trim()));
      if (found === undefined) {
        const names = definitionsOf(reading).map((definition) => definition.name);
        return { error: unknownName(name, [...new Set([...names, ...also])]) };
      }
      if ("reason" in found) return { error: found.reason };
      return { definition: found };
    },
  };
}

async function read(places: DefinitionPlaces): Promise<Reading> {
  const { files, inside, faults: folderFaults } = await definitionFiles(places);
  const named = new Map<string, AgentDefinition | DefinitionFault>();
  const faults = [...folderFaults];
  const shadowed: UnusedDefinition[] = [];
  // The person's own configuration comes before what lies in a project.
  const agents = new Map((places.agents ?? []).map((name) => [nameKey(name), name]));
  for (const name of agents.values()) {
    const reason = `${name} is an agent of mmConfigs, and no definition of that name is used`;
    take(named, name, { path: "", name, reason });
  }
  /** Faults of files that do not say their name. */
  const unnamed: DefinitionFault[] = [];
  for (const one of await readAll(files)) {
    if ("definition" in one) {
      const { name, source } = one.definition;
      if (source.kind !== "file") continue;
      const { path } = source;
      const agent = agents.get(nameKey(name));
      if (agent !== undefined) {
        const reason = `The definition "${path}" is not used: ${agent} is an agent of mmConfigs`;
        faults.push({ path, name, reason: `${reason}; give it another name` });
        continue;
      }
      const first = named.get(nameKey(name));
      if (first !== undefined) shadowed.push({ path, reason: shadowedBy(path, name, first) });
      take(named, name, one.definition);
      continue;
    }
    const { fault, declared } = one;
    faults.push(fault);
    if (fault.name === undefined) continue;
    // A name that is written there is not looked for in the next folder: that one may allow more.
    if (declared) take(named, fault.name, fault);
    else unnamed.push(fault);
  }
  for (const definition of BUILTIN_DEFINITIONS) take(named, definition.name, definition);
  for (const fault of unnamed) take(named, fault.name ?? "", fault);
  return { named, faults, shadowed, inside };
}

function shadowedBy(
  path: string,
  name: string,
  first: AgentDefinition | DefinitionFault,
): string {
  const other = "reason" in first
    ? `${first.path}", which cannot be used,`
    : first.source.kind === "file"
    ? `${first.source.path}"`
    : "";
  return `"${path}" is not used: "${other} comes first with the name "${name}"`;
}

async function readAll(
  files: Awaited<ReturnType<typeof definitionFiles>>["files"],
): Promise<ReadDefinition[]> {
  if (files.length === 0) return [];
  // The YAML library is loaded only where there is a file.
  const { readDefinition } = await import("./read_definition.ts");
  const all = await Promise.all(files.map((file) => readDefinition(file)));
  return all.filter((one) => one !== undefined);
}

function take(
  named: Map<string, AgentDefinition | DefinitionFault>,
  name: string,
  value: AgentDefinition | DefinitionFault,
): void {
  const key = nameKey(name);
  const known = named.get(key);
  if (known === undefined) named.set(key, value);
  else if (!("reason" in known) && !("reason" in value)) named.set(key, inPlaceOf(known, value));
}

/** A project may be anybody's: where it has a person's own subagent, or mm's, that is said, once. */
function inPlaceOf(known: AgentDefinition, other: AgentDefinition): AgentDefinition {
  const { source, notes } = known;
  const own = other.source;
  if (source.kind === "builtin" || source.scope !== "project") return known;
  if (own.kind === "file" && own.scope === "project") return known;
  const whose = own.kind === "builtin" ? "the one that mm brings along" : `that of "${own.path}"`;
  const note = `the project's file "${source.path}" takes the place of `;
  if (notes.some((one) => one.startsWith(note))) return known;
  return { ...known, notes: [...notes, note + whose] };
}

/** By name, so that the order does not depend on where a file lies. */
function definitionsOf({ named }: Reading): AgentDefinition[] {
  return [...named].filter((entry): entry is [string, AgentDefinition] => !("reason" in entry[1]))
    .sort(([a], [b]) => a < b ? -1 : 1)
    .map(([, definition]) => definition);
}

function unknownName(name: string, names: readonly string[]): string {
  const more = names.length > MAX_NAMES ? `, and ${names.length - MAX_NAMES} more` : "";
  return `There is no subagent "${quotable(name)}"; the names are ` +
    `${names.slice(0, MAX_NAMES).join(", ")}${more}${didYouMean(name, names)}`;
}
