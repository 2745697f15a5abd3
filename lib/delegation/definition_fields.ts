/**
 * The fields of a definition: what each may hold.
 *
 * A file that was written for mm has to be right. One that was written for another program may hold
 * what mm does not know; that is noted, and what it does not say clearly never gives a subagent more.
 *
 * @module
 */
import { parseDuration } from "../base/duration.ts";
import { quotable } from "../config/problems.ts";
import { selectTools } from "../tools/tool_names.ts";
import { approvalOf } from "./approval_modes.ts";
import type { AgentDefinition } from "./definition.ts";
import { keyFindings } from "./definition_keys.ts";
import { definitionNameError } from "./definition_name.ts";
import { readModel } from "./definition_model.ts";
import type { Dialect } from "./dialect.ts";
import { READ_ONLY_TOOLS } from "./subagent_tools.ts";
import { readToolEntries, splitEntries, type ToolListKey } from "./tool_entries.ts";

/** What a definition says, without its text and its place. */
export type DefinitionFields = Omit<AgentDefinition, "source" | "prompt" | "version">;

/** What came of reading: the fields, or every fault, each a sentence without a period. */
export type ReadFields =
  | { readonly fields: DefinitionFields }
  | { readonly faults: readonly string[]; readonly name?: string };

/** Longest time of a run that a file may set, in milliseconds. */
const MAX_TIME_MS = 7 * 24 * 3_600_000;

const MAX_TURNS = 1_000_000;

/** Reads the values of front matter. */
export function readFields(
  values: Readonly<Record<string, unknown>>,
  { dialect }: { readonly dialect: Dialect },
): ReadFields {
  const reader = new Reader(values, dialect);
  const name = reader.name();
  const description = reader.description();
  const tools = reader.tools();
  const withoutTools = reader.withoutTools();
  const model = reader.model();
  const maxTurns = reader.maxTurns();
  const maxTimeMs = reader.maxTimeMs();
  const background = reader.background();
  const keys = keyFindings(values, { dialect });
  const faults = [...reader.faults, ...keys.faults];
  if (faults.length > 0 || name === undefined || description === undefined) {
    return { faults, ...(name === undefined ? {} : { name }) };
  }
  return {
    fields: {
      name,
      description,
      ...(tools === undefined ? {} : { tools }),
      withoutTools,
      ...(model === undefined ? {} : { model }),
      ...(maxTurns === undefined ? {} : { maxTurns }),
      ...(maxTimeMs === undefined ? {} : { maxTimeMs }),
      ...(background === undefined ? {} : { background }),
      notes: [...reader.notes, ...keys.notes],
    },
  };
}

class Reader {
  readonly faults: string[] = [];
  readonly notes: string[] = [];
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #dialect: Dialect;

  constructor(values: Readonly<Record<string, unknown>>, dialect: Dialect) {
    this.#values = values;
    this.#dialect = dialect;
  }

  name(): string | undefined {
    const name = this.#text("name", "write the name by which it is called");
    const error = name === undefined ? undefined : definitionNameError(name);
    if (error !== undefined) this.faults.push(error);
    return error === undefined ? name : undefined;
  }

  description(): string | undefined {
    const text = this.#text("description", "say when it is to be used");
    return text?.replace(/\s+/gu, " ");
  }

  /** What it has; `undefined` for everything. */
  tools(): readonly string[] | undefined {
    const mode = approvalOf(this.#values);
    if ("fault" in mode) this.faults.push(mode.fault);
    else if (mode.note !== undefined) this.notes.push(mode.note);
    const list = this.#toolList("tools");
    if (!("readOnly" in mode) || !mode.readOnly) return list;
    const { has } = selectTools(list);
    return READ_ONLY_TOOLS.filter(has);
  }

  withoutTools(): readonly string[] {
    return this.#toolList("disallowedTools") ?? [];
  }

  model(): string | undefined {
    const legacy = this.#inside("modelConfig", ["model"]);
    const value = this.#present("model") ?? legacy?.["model"];
    if (value === undefined || value === null) return undefined;
    if (typeof value !== "string" || value.trim() === "" || /\p{Cc}/u.test(value.trim())) {
      return this.#wrong("model", "must be the name of a model", value);
    }
    const { model, note } = readModel(value.trim(), this.#dialect);
    if (note !== undefined) this.notes.push(note);
    return model;
  }

  maxTurns(): number | undefined {
    const legacy = this.#inside("runConfig", RUN_KEYS)?.["max_turns"];
    const own = this.#present("maxTurns");
    const [key, value] = own === undefined
      ? ["runConfig.max_turns", legacy ?? undefined]
      : ["maxTurns", own];
    if (value === undefined) return undefined;
    const must = `must be a whole number from 1 to ${MAX_TURNS}`;
    return wholeNumber(value) ?? this.#wrong(key, must, value);
  }

  maxTimeMs(): number | undefined {
    const value = this.#present("maxTime");
    if (value !== undefined) {
      const ms = typeof value === "string" || typeof value === "number"
        ? parseDuration(value)
        : undefined;
      return inRange(ms) ??
        this.#wrong("maxTime", "must be a duration such as 30s, 5m or 1h, of at most 168 h", value);
    }
    const minutes = this.#inside("runConfig", RUN_KEYS, { quiet: true })?.["max_time_minutes"];
    if (minutes === undefined || minutes === null) return undefined;
    const ms = typeof minutes === "number" ? Math.round(minutes * 60_000) : undefined;
    return inRange(ms) ??
      this.#wrong(
        "runConfig.max_time_minutes",
        "must be a number of minutes, up to 168 h",
        minutes,
      );
  }

  background(): boolean | undefined {
    const value = this.#present("background");
    if (value === undefined) return undefined;
    if (value === true || value === "true") return true;
    if (value === false || value === "false") return false;
    return this.#wrong("background", "must be true or false", value);
  }

  #toolList(key: ToolListKey): readonly string[] | undefined {
    const value = this.#present(key);
    if (value === undefined) return undefined;
    const entries = splitEntries(value);
    if (entries === undefined) {
      // Also in a file of others: what the list would have left out is not known.
      this.faults.push(`"${key}" must be a list of names of tools, or text with commas`);
      return undefined;
    }
    const foreign = this.#dialect !== "mm";
    // Other programs take an empty list for one that is not there.
    if (entries.length === 0) return foreign && key === "tools" ? undefined : [];
    const { tools, unknown, notes } = readToolEntries(entries, key);
    this.notes.push(...notes);
    for (const entry of unknown) {
      const text = `"${key}" names ${entry}`;
      // What is to be taken away and is misspelt would be there.
      if (key === "disallowedTools" && !foreign) this.faults.push(text);
      else this.notes.push(text);
    }
    return key === "tools" && tools.includes("*") ? undefined : tools;
  }

  /** A value that is neither absent nor empty. */
  #present(key: string): unknown {
    return this.#values[key] ?? undefined;
  }

  #text(key: string, what: string): string | undefined {
    const value = this.#present(key);
    if (typeof value === "string" && value.trim() !== "") return value.trim();
    this.faults.push(
      value === undefined || value === ""
        ? `"${key}" is missing; ${what}`
        : `"${key}" must be text${shown(value)}`,
    );
    return undefined;
  }

  /** A map of another program, of which some keys are read. */
  #inside(
    key: string,
    known: readonly string[],
    options: { readonly quiet?: boolean } = {},
  ): Readonly<Record<string, unknown>> | undefined {
    const value = this.#present(key);
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      if (value !== undefined && options.quiet !== true) {
        this.notes.push(`"${key}" is no map, and left out`);
      }
      return undefined;
    }
    const others = Object.keys(value).filter((name) => !known.includes(name));
    if (others.length > 0 && options.quiet !== true) {
      const names = others.map((name) => `"${key}.${quotable(name)}"`);
      this.notes.push(`${names.join(" and ")} ${names.length > 1 ? "are" : "is"} not honoured`);
    }
    return value as Readonly<Record<string, unknown>>;
  }

  /** A fault of a file for mm; in one of others the key is left out. */
  #wrong(key: string, must: string, value: unknown): undefined {
    const text = `"${key}" ${must}${shown(value)}`;
    if (this.#dialect === "mm") this.faults.push(text);
    else this.notes.push(`${text}; it is left out`);
  }
}

/** The keys of `runConfig` that are read. */
const RUN_KEYS: readonly string[] = ["max_turns", "max_time_minutes"];

function wholeNumber(value: unknown): number | undefined {
  const number = typeof value === "string" && /^\s*\d{1,9}\s*$/u.test(value)
    ? Number(value)
    : value;
  return typeof number === "number" && Number.isInteger(number) && number >= 1 &&
      number <= MAX_TURNS
    ? number
    : undefined;
}

function inRange(ms: number | undefined): number | undefined {
  return ms !== undefined && ms >= 1 && ms <= MAX_TIME_MS ? ms : undefined;
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return ", not a list";
  if (typeof value === "object") return ", not a map";
  return typeof value === "string" ? `, not "${quotable(value)}"` : `, not ${String(value)}`;
}
