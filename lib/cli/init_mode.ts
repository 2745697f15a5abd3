/**
 * `mm -init`: writes an `agent.yaml` for the model server that is found.
 *
 * @module
 */
import { access, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { UsageError, UserError } from "../base/errors.ts";
import { initTemplate, type InitTemplateOptions } from "../config/init_template.ts";
import { createModelClient } from "../model/client.ts";
import { discoverServer } from "../model/discover.ts";
import { workingDirectory } from "./load_agent_config.ts";
import type { ModeOptionsOf } from "./mode.ts";

/** How long the server is asked about its model, in milliseconds. */
const FACTS_MS = 3000;

/** Writes the file. Returns the exit status. */
export async function runInitMode(
  { options, io, lifetime }: ModeOptionsOf<"init">,
): Promise<number> {
  const cwd = await workingDirectory(options.cwd, io.cwd);
  const path = join(cwd, "agent.yaml");
  if (await access(path).then(() => true, () => false)) throw exists(path);

  const { found, notice } = await findServer(io.env, lifetime.signal);
  lifetime.signal.throwIfAborted();
  try {
    await writeFile(path, initTemplate(found), { flag: "wx" });
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
    if (code === "EEXIST") throw exists(path);
    throw new UserError(`Cannot write "${path}": ${code}`, { cause });
  }
  io.out(`${notice}\nWrote "${path}". Next: mm -check, then mm -line\n`);
  return 0;
}

function exists(path: string): UsageError {
  return new UsageError(
    `"${path}" exists already and is kept as it is; edit it, or move it away and run mm -init again`,
  );
}

async function findServer(
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<{ readonly found: InitTemplateOptions; readonly notice: string }> {
  const server = await discoverServer({ env, signal });
  if (server === undefined) {
    return {
      found: { provider: "llamacpp" },
      notice: "No model server was found, so the file names llama.cpp at its usual address; " +
        "change provider and baseUrl to the server you use",
    };
  }
  const { provider, baseUrl } = server;
  const place = { provider, ...(baseUrl === undefined ? {} : { baseUrl }) };
  const client = createModelClient({ config: place, env });
  await client.facts({ signal: AbortSignal.any([signal, AbortSignal.timeout(FACTS_MS)]) })
    .catch(() => undefined);
  const model = modelIn(client.label, provider);
  return {
    found: { ...place, ...(model === undefined ? {} : { model }) },
    notice: `Found ${client.label}${baseUrl === undefined ? "" : ` at ${baseUrl}`}`,
  };
}

/** The model of a label, where the provider serves several; llama.cpp has the one it was given. */
function modelIn(label: string, provider: string): string | undefined {
  if (provider === "llamacpp" || !label.startsWith(`${provider}/`)) return undefined;
  const model = label.slice(provider.length + 1);
  return model === "" ? undefined : model;
}
