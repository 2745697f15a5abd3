/**
 * The values of a configuration file, checked key by key, so that one wrong key does not hide what
 * is wrong with the others.
 *
 * @module
 */
import { check, type Fault, unknownKey } from "./check.ts";
import { type Problem, problemAt } from "./problems.ts";
import { AGENT_FILE_KEYS, type AgentFile, type AgentFileKey, agentFileSchema } from "./schema.ts";
import type { YamlSource } from "./yaml_source.ts";

/** What a file says. */
export interface FileValues {
  /** The valid values; defaults for keys that are absent or not valid. */
  readonly values: AgentFile;
  /** Keys that the file has. */
  readonly given: ReadonlySet<AgentFileKey>;
  /** Keys whose value is not valid. */
  readonly invalid: ReadonlySet<AgentFileKey>;
  readonly problems: readonly Problem[];
}

/** Returns the defaults, as for a file without a key. */
export function defaultValues(): FileValues {
  return {
    values: agentFileSchema.parse({}),
    given: new Set(),
    invalid: new Set(),
    problems: [],
  };
}

/** Checks what a file says. `file` is named in the problems. */
export function checkFile(source: YamlSource, file: string): FileValues {
  const { value: raw } = source;
  const defaults = defaultValues();
  // Nothing but comments, or a text that could not be read.
  if (raw === null || raw === undefined) return { ...defaults, problems: source.problems };
  if (typeof raw !== "object" || Array.isArray(raw)) {
    const kind = Array.isArray(raw) ? "a list" : "a single value";
    const at = source.place([], "value");
    const problem = problemAt(file, at, `The file must hold keys with values, not ${kind}`);
    return { ...defaults, problems: [...source.problems, problem] };
  }
  const values: Record<string, unknown> = { ...defaults.values };
  const given = new Set<AgentFileKey>();
  const invalid = new Set<AgentFileKey>();
  const problems = [...source.problems];

  for (const [key, value] of Object.entries(raw)) {
    const faults: Fault[] = [];
    if (isKnown(key)) {
      given.add(key);
      const checked = check(agentFileSchema.shape[key], value, {
        path: [key],
        written: source.written,
      });
      if ("value" in checked) values[key] = checked.value;
      else {
        invalid.add(key);
        faults.push(...checked.faults);
      }
    } else {
      faults.push(unknownKey([key], AGENT_FILE_KEYS));
    }
    for (const { path, of, text } of faults) {
      if (!source.failed(path)) problems.push(problemAt(file, source.place(path, of), text));
    }
  }
  return { values: values as AgentFile, given, invalid, problems };
}

function isKnown(key: string): key is AgentFileKey {
  return (AGENT_FILE_KEYS as readonly string[]).includes(key);
}
