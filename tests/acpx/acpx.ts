/**
 * acpx: a client of the protocol that no one here wrote. `deno task test:acpx` installs it.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { nodePath, PEERS_DIR } from "../interop/peers.ts";
import type { MmProcess, RunResult } from "../support/mm.ts";
import { type Program, programUnderTest } from "../support/program.ts";
import type { TestProject } from "../support/project.ts";

/** The package. An older one needs no Node 22 and lacks most of what is tested. */
export const ACPX_PACKAGE = "acpx@0.19.1";

/** Where it is installed. */
export const ACPX_DIR = join(PEERS_DIR, "acpx");

const CLI = join(ACPX_DIR, "node_modules", "acpx", "dist", "cli.js");

/** Seconds after which the process that keeps a session for acpx ends by itself. */
const OWNER_SECONDS = "20";

/** Returns why acpx cannot be run here, or nothing. */
export function missing(): string | undefined {
  if (process.env.MM_ACPX !== "1") return "runs in the task test:acpx only";
  if (!existsSync(nodePath())) return "there is no Node 22 for it";
  return existsSync(CLI) ? undefined : "it is not installed";
}

/** Runs acpx with mm as the agent. */
export class Acpx {
  readonly #p: TestProject;
  readonly #agent: string;

  /** Use {@linkcode Acpx.of}. */
  constructor(p: TestProject, agent: string) {
    this.#p = p;
    this.#agent = agent;
  }

  /** Writes the program that acpx starts: its `--agent` is one line of words. */
  static async of(p: TestProject): Promise<Acpx> {
    const words = programUnderTest().map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
    const program = await p.write("mm", `#!/bin/sh\nexec ${words} "$@"\n`);
    await chmod(program, 0o755);
    return new Acpx(p, `${program} -acp -config ${p.path("agent.yaml")}`);
  }

  /** Runs it to its end. */
  run(...args: readonly string[]): Promise<RunResult> {
    return this.#p.runMm(this.#words(args), { program: program(), timeoutMs: 60_000 });
  }

  /** Starts it. */
  start(...args: readonly string[]): MmProcess {
    return this.#p.mm(this.#words(args), { program: program(), stdin: "" });
  }

  #words(args: readonly string[]): string[] {
    return ["--ttl", OWNER_SECONDS, "--agent", this.#agent, ...args];
  }
}

function program(): Program {
  return [nodePath(), CLI];
}
