/**
 * A project for one test: its own directory, home, state and environment; everything started in it
 * is ended with it, and nothing may be left running.
 *
 * @module
 */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { AcpEditor } from "./acp_editor.ts";
import { assertNoProcessLeft, MARK } from "./leftovers.ts";
import { type MmProcess, type RunResult, startMm, type StartMmOptions } from "./mm.ts";
import { type ModelServer, type ModelServerOptions, startModelServer } from "./model_server.ts";
import { baseEnvironment } from "./program.ts";

/** Options of {@linkcode withProject}. */
export interface ProjectOptions {
  /** Files of the project: relative path to text. */
  readonly files?: Readonly<Record<string, string>>;
  /** Variables besides the project's own. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Options of a start of mm in a project. */
export interface ProjectStartOptions extends Partial<Omit<StartMmOptions, "env">> {
  /** Variables besides the project's. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A project of a test. */
export class TestProject {
  /** The working directory; mm is started here. */
  readonly dir: string;
  readonly home: string;
  readonly configDir: string;
  readonly stateDir: string;
  /** The environment of what is started here. */
  readonly env: Readonly<Record<string, string>>;
  /** The mark of the processes of this project. */
  readonly mark: string;
  readonly #root: string;
  readonly #started: MmProcess[] = [];
  readonly #servers: ModelServer[] = [];
  readonly #editors: AcpEditor[] = [];
  readonly #deferred: (() => unknown)[] = [];

  /** Use {@linkcode testProject} or {@linkcode withProject}. */
  constructor(root: string, env: Readonly<Record<string, string>>) {
    this.#root = root;
    this.dir = join(root, "project");
    this.home = join(root, "home");
    this.configDir = join(root, "config");
    this.stateDir = join(root, "state");
    this.mark = randomUUID();
    this.env = {
      ...baseEnvironment(),
      HOME: this.home,
      USERPROFILE: this.home,
      TMPDIR: join(root, "tmp"),
      XDG_CONFIG_HOME: join(this.home, ".config"),
      XDG_STATE_HOME: join(this.home, ".local", "state"),
      XDG_DATA_HOME: join(this.home, ".local", "share"),
      XDG_CACHE_HOME: join(this.home, ".cache"),
      MM_CONFIG_DIR: this.configDir,
      MM_STATE_DIR: this.stateDir,
      TERM: "dumb",
      ...env,
      [MARK]: this.mark,
    };
  }

  /** The absolute path of a file of the project. */
  path(relative: string): string {
    return join(this.dir, relative);
  }

  /** Writes a file of the project, its folders included; returns its absolute path. */
  async write(relative: string, text: string | Uint8Array): Promise<string> {
    const path = this.path(relative);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    return path;
  }

  /** Reads a file of the project as text. */
  read(relative: string): Promise<string> {
    return readFile(this.path(relative), "utf8");
  }

  /** Whether a file or folder of the project exists. */
  exists(relative: string): boolean {
    return existsSync(this.path(relative));
  }

  /** Starts a model server that is closed, and checked, with the project. */
  async model(options: ModelServerOptions = {}): Promise<ModelServer> {
    const server = await startModelServer(options);
    this.#servers.push(server);
    return server;
  }

  /** Starts mm in the project. */
  mm(args: readonly string[], options: ProjectStartOptions = {}): MmProcess {
    const mm = startMm(args, {
      cwd: this.dir,
      ...options,
      env: { ...this.env, ...options.env },
    });
    this.#started.push(mm);
    return mm;
  }

  /** Runs mm in the project to its end; stdin is empty unless given. */
  async runMm(
    args: readonly string[],
    options: ProjectStartOptions & { readonly timeoutMs?: number } = {},
  ): Promise<RunResult> {
    const { timeoutMs, ...start } = options;
    const mm = this.mm(args, { stdin: "", ...start });
    const exit = await mm.waitForExit(timeoutMs === undefined ? {} : { timeoutMs });
    return { ...exit, stdout: mm.stdout, stderr: mm.stderr };
  }

  /** Starts `mm -acp` with more arguments and an editor that talks to it; its wire is checked. */
  editor(args: readonly string[] = [], options: ProjectStartOptions = {}): AcpEditor {
    const editor = new AcpEditor(this.mm(["-acp", ...args], options), { cwd: this.dir });
    this.#editors.push(editor);
    return editor;
  }

  /** Runs `end` when the project closes, before its processes are ended. */
  defer(end: () => unknown): void {
    this.#deferred.push(end);
  }

  /** The output of every process started, for a message. */
  report(): string {
    return this.#started.map((mm) => mm.report()).join("\n");
  }

  /**
   * Ends everything the project started and removes its files.
   *
   * @throws {Error} when a process was left, or a model server saw a violation: all of it.
   */
  async close(): Promise<void> {
    const faults: unknown[] = [];
    const attempt = async (step: () => unknown) => {
      try {
        await step();
      } catch (error) {
        faults.push(error);
      }
    };
    for (const end of this.#deferred.reverse()) await attempt(end);
    await Promise.all(this.#started.map((mm) => attempt(() => mm.stop())));
    await attempt(() => assertNoProcessLeft(this.mark));
    for (const editor of this.#editors) await attempt(() => editor.assertWire());
    for (const server of this.#servers) await attempt(() => server.close());
    await attempt(() => rm(this.#root, { recursive: true, force: true, maxRetries: 3 }));
    if (faults.length > 0) throw combine(faults);
  }
}

/** Makes a project; the caller closes it. */
export async function testProject(options: ProjectOptions = {}): Promise<TestProject> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "mm-test-")));
  const project = new TestProject(root, options.env ?? {});
  for (const folder of [project.dir, project.home, project.configDir, project.stateDir]) {
    await mkdir(folder, { recursive: true });
  }
  await mkdir(join(root, "tmp"));
  for (const [path, text] of Object.entries(options.files ?? {})) await project.write(path, text);
  return project;
}

/**
 * Runs `body` with a fresh project, then ends all that was started, and checks that no process is
 * left and that every model server saw only requests in order.
 */
export async function withProject(
  body: (project: TestProject) => Promise<void>,
  options: ProjectOptions = {},
): Promise<void> {
  const project = await testProject(options);
  const faults: unknown[] = [];
  try {
    await body(project);
  } catch (error) {
    faults.push(error);
    const report = project.report();
    if (report !== "") process.stderr.write(`${report}\n`);
  }
  try {
    await project.close();
  } catch (error) {
    faults.push(error);
  }
  if (faults.length > 0) throw combine(faults);
}

/** One error that keeps the first as it is, and the words of the others. */
function combine(faults: readonly unknown[]): unknown {
  if (faults.length === 1) return faults[0];
  const words = faults.map((f) => f instanceof Error ? f.message : String(f));
  return new Error(words.join("\n\nand then: "), { cause: faults[0] });
}
