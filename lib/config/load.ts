/**
 * Loading an agent's configuration: the file, then the environment, then the command line.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { dirname } from "node:path";
import { redactor } from "../base/secrets.ts";
import { buildConfig } from "./build.ts";
import { misfits } from "./cross_check.ts";
import { discover } from "./discover.ts";
import { checkFile, defaultValues } from "./file_values.ts";
import { lostTools } from "./lost_tools.ts";
import { type FlagOverrides, readOverrides } from "./overrides.ts";
import { type KeyPath, type Problem, problemAt, problemsError } from "./problems.ts";
import type { AgentFile, AgentFileKey } from "./schema.ts";
import { secretsIn } from "./secret_values.ts";
import { keepSecretsAtHome } from "./server_change.ts";
import type { AgentConfig } from "./types.ts";
import { readYaml } from "./yaml_source.ts";

/** Options of {@linkcode loadConfig}. */
export interface LoadConfigOptions {
  /** The file that was asked for with `-config`, absolute or relative to `cwd`. */
  readonly file?: string;
  /** Whether no file is used, neither `file` nor one that would be found. @default {false} */
  readonly defaults?: boolean;
  /** Where a configuration is looked for, absolute. */
  readonly cwd: string;
  /** The environment: `${NAME}`, `AGENT_*`, and `HOME` for `~/`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user's directory of configurations, absolute; the file is `mm/agent.yaml` in it. */
  readonly configDir: string;
  /** Values given on the command line; they come before everything else. */
  readonly overrides?: FlagOverrides;
  /** Told, in a sentence, about each thing that is allowed and probably not meant. */
  readonly onWarning?: (text: string) => void;
}

/**
 * Loads and checks the configuration; with no file anywhere, the built-in defaults.
 *
 * @throws {UsageError} with every problem found, each with file, line, column and key. No secret of
 * the file or of the environment stands in it.
 */
export async function loadConfig(options: LoadConfigOptions): Promise<AgentConfig> {
  const { env, cwd } = options;
  const found = options.defaults === true ? undefined : await discover(options);
  const source = found === undefined ? undefined : readYaml(found.text, { file: found.file, env });
  const clean = redactor(secretsIn(source?.value, env));
  const overrides = readOverrides({ env, flags: options.overrides ?? {} });
  const read = found === undefined || source === undefined
    ? defaultValues()
    : checkFile(source, found.file);
  const problems: Problem[] = [...read.problems, ...overrides.problems];
  // The YAML is broken: what the keys are is unknown, so nothing more can be said.
  if (source !== undefined && source.value === undefined) throw problemsError(problems, clean);

  const kept = keepSecretsAtHome(read.values, overrides);
  const values: AgentFile = { ...kept.values, ...overrides.values };
  if (overrides.sessions !== undefined) {
    values.sessions = { ...values.sessions, enabled: overrides.sessions };
  }
  const problem = (path: readonly [AgentFileKey, ...KeyPath], text: string) => {
    const name = overrides.names[path[0]];
    if (name === undefined && found !== undefined && source !== undefined) {
      problems.push(problemAt(found.file, source.place(path, "value"), text));
    } else {
      problems.push({ where: name ?? path[0], text });
    }
  };
  const given = new Set([...read.given, ...Object.keys(overrides.names) as AgentFileKey[]]);
  for (const { path, text } of misfits(values, { given, invalid: read.invalid })) {
    problem(path, text);
  }
  // Built even when there are problems: what it finds belongs into the same message.
  const config = await buildConfig(values, {
    ...(found === undefined ? {} : { file: found.file }),
    baseDir: found === undefined ? cwd : dirname(found.file),
    home: env["HOME"] ?? env["USERPROFILE"],
    problem: (path, text) => {
      if (source?.failed(path) !== true) problem(path, text);
    },
  });
  if (problems.length > 0) throw problemsError(problems, clean);
  const warnings = [...overrides.warnings, ...kept.warnings, ...lostTools(config)];
  for (const warning of warnings) options.onWarning?.(warning);
  if (found === undefined) return config;
  return { ...config, fileDigest: createHash("sha256").update(found.text).digest("hex") };
}
