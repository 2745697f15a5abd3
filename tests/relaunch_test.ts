/** mm starts itself again (as bob, and for its commands) in whatever form it was started. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { accessSync, constants, existsSync, readdirSync, statSync } from "node:fs";
import { copyFile, cp, mkdir, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { bundle, MAIN } from "../scripts/bundle.ts";
import type { Program } from "./support/program.ts";
import { type TestProject, withProject } from "./support/project.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const CLI = join(ROOT, "cli.ts");

/** The runtime that runs the tests. */
const DENO = process.execPath;

const run = promisify(execFile);

/** A form in which mm can be started. */
interface Form {
  readonly program: Program;
  /** What `-version` says of the runtime. */
  readonly version: RegExp;
  readonly env?: Readonly<Record<string, string>>;
}

const FROM_SOURCE = /^mm \d+\.\d+\.\d+\S* \(deno [\d.]+, dev\)$/u;

const BUNDLED = /^mm \d+\.\d+\.\d+\S* \(deno [\d.]+, commit \S+\)$/u;

/** A project whose own files would break an mm that took them for its own. */
async function writeProject(p: TestProject): Promise<void> {
  await p.write("agent.yaml", "provider: demo\nyolo: true\nmmConfigs: {bob: {path: bob.yaml}}\n");
  await p.write("bob.yaml", "provider: demo\n");
  await p.write("notes.txt", "The tests need 42 seconds.\n");
  await p.write("deno.json", '{"imports": {"zod": "./no.ts", "yaml": "./no.ts"}}');
  await p.write("package.json", '{"type": "commonjs", "dependencies": {"zod": "file:./no"}}');
}

async function assertRelaunches(p: TestProject, form: Form): Promise<void> {
  const { program, version, env = {} } = form;
  await writeProject(p);
  const own = await p.runMm(["-version"], { program, env });
  assert.match(own.stdout.trim(), version);

  const typed = await p.runMm(["-p", "/ask-bob read notes.txt"], { program, env });
  assert.match(typed.stdout, /42 seconds/);
  assert.equal(typed.code, 0);

  // Bob's commands see the mm that bob is.
  const bobs = await p.runMm(["-p", '/ask-bob run "$MM_BIN" -version'], { program, env });
  assert.ok(bobs.stdout.includes(own.stdout.trim()), bobs.stdout);

  const script = 'cd / && "$MM_BIN" -config "$MM_CONFIG" --ask bob "read notes.txt" 2> /dev/null';
  const asked = await p.runMm(["-p", `run (${script})`], { program, env });
  // The mm that the command started answers from /, where there is no such file: bob did run there.
  assert.match(asked.stdout, /Cannot read "notes\.txt": no such file/);
  const here = await p.runMm(["-p", `run ${script.replace("cd / && ", "")}`], { program, env });
  assert.match(here.stdout, /42 seconds/);
}

test("from source, from another directory", () =>
  withProject((p) =>
    assertRelaunches(p, { program: [DENO, "run", "-A", CLI], version: FROM_SOURCE })
  ));

test("from source, through the library's entry", () =>
  withProject((p) =>
    assertRelaunches(p, {
      program: [DENO, "run", "-A", join(ROOT, "mod.ts")],
      version: FROM_SOURCE,
    })
  ));

test("from source, by a relative path through a symbolic link to the repository", () =>
  withProject(async (p) => {
    await symlink(ROOT, p.path("repository"));
    const program: Program = [DENO, "run", "-A", "repository/cli.ts"];
    await assertRelaunches(p, { program, version: FROM_SOURCE });
  }));

test("from a copy of the sources in a directory with blanks and quotes", () =>
  withProject(async (p) => {
    const copy = join(p.home, "it's my mm (copy)");
    await mkdir(copy);
    await cp(join(ROOT, "lib"), join(copy, "lib"), { recursive: true });
    for (const file of ["mod.ts", "cli.ts", "deno.json", "deno.lock"]) {
      await copyFile(join(ROOT, file), join(copy, file));
    }
    await symlink(join(ROOT, "node_modules"), join(copy, "node_modules"));
    // So that it is seen that the copy, and no other mm, is what is started again.
    const versionFile = join(copy, "lib", "base", "version.ts");
    const source = await readFile(versionFile, "utf8");
    await writeFile(versionFile, source.replace(/"\d+\.\d+\.\d+[^"]*"/u, '"98.7.6"'));
    await assertRelaunches(p, {
      program: [DENO, "run", "-A", "--no-check", join(copy, "cli.ts")],
      version: /^mm 98\.7\.6 \(deno /u,
    });
  }));

const NODE = await run("node", ["--version"]).then(({ stdout }) => stdout.trim(), () => "");
const NODE_MAJOR = Number(/^v(\d+)/u.exec(NODE)?.[1] ?? 0);

test("as a bundle under Node, and through a symbolic link to it", {
  skip: NODE_MAJOR >= 22 ? false : `needs Node 22 or later on the PATH, found "${NODE}"`,
}, () =>
  withProject(async (p) => {
    const folder = join(p.home, "a bundle");
    await bundle(CLI, folder);
    const version = new RegExp(
      `^mm \\S+ \\(node ${NODE.slice(1).replaceAll(".", "\\.")}, .*\\)$`,
      "u",
    );
    await assertRelaunches(p, { program: ["node", join(folder, MAIN)], version });
    await symlink(join(folder, MAIN), join(p.home, "mm.mjs"));
    await assertRelaunches(p, { program: ["node", join(p.home, "mm.mjs")], version });
  }));

test("as a bundle under Deno", () =>
  withProject(async (p) => {
    const folder = join(p.home, "a bundle");
    await bundle(CLI, folder);
    const program: Program = [DENO, "run", "-A", join(folder, MAIN)];
    await assertRelaunches(p, { program, version: BUNDLED });
  }));

const COMPILED = compiled();
const compiledOptions = { skip: "path" in COMPILED ? false : COMPILED.reason };
const compiledPath = "path" in COMPILED ? COMPILED.path : "";
const AS_COMPILED = /^mm \d+\.\d+\.\d+\S* \(deno [\d.]+.*\)$/u;

test(
  "compiled",
  compiledOptions,
  () => withProject((p) => assertRelaunches(p, { program: [compiledPath], version: AS_COMPILED })),
);

test("compiled, through a symbolic link", compiledOptions, () =>
  withProject(async (p) => {
    const link = join(p.home, "my link");
    await symlink(compiledPath, link);
    await assertRelaunches(p, { program: [link], version: AS_COMPILED });
  }));

test(
  "compiled, under another name in a directory with blanks",
  compiledOptions,
  () =>
    withProject(async (p) => {
      const other = join(p.home, "a directory", "agent-of-mine");
      await mkdir(dirname(other));
      await copyFile(compiledPath, other);
      await assertRelaunches(p, { program: [other], version: AS_COMPILED });
    }),
);

test("compiled, found on the PATH", compiledOptions, () =>
  withProject(async (p) => {
    await symlink(compiledPath, join(p.home, "mm-on-path"));
    const env = { PATH: `${p.home}:${p.env["PATH"]}` };
    // The program is looked up by a shell, for a test's own PATH is not mm's.
    const program: Program = ["/bin/sh", "-c", 'exec mm-on-path "$@"', "sh"];
    await assertRelaunches(p, { program, version: AS_COMPILED, env });
  }));

test(
  "compiled, replaced by an update while it runs",
  compiledOptions,
  () =>
    withProject(async (p) => {
      const mine = join(p.home, "mm");
      await copyFile(compiledPath, mine);
      await writeProject(p);
      const editor = p.editor([], { program: [mine] });
      const session = await editor.start();
      await copyFile(compiledPath, `${mine}.new`);
      await rename(`${mine}.new`, mine);
      await editor.prompt(session, "/ask-bob read notes.txt");
      assert.match(editor.text(session), /42 seconds/);
    }),
);

/** The executable to test, or why there is none. */
function compiled(): { readonly path: string } | { readonly reason: string } {
  const chosen: unknown = JSON.parse(process.env.MM_TEST_PROGRAM || "[]");
  if (Array.isArray(chosen) && chosen.length === 1 && isExecutable(String(chosen[0]))) {
    return { path: String(chosen[0]) };
  }
  const built = join(ROOT, "build", process.platform === "win32" ? "mm.exe" : "mm");
  if (!isExecutable(built)) {
    return { reason: "there is no executable: run the task compile, or set MM_TEST_PROGRAM" };
  }
  if (statSync(built).mtimeMs < newest(join(ROOT, "lib"))) {
    return { reason: "build/mm is older than the sources: run the task compile" };
  }
  return { path: built };
}

function isExecutable(path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** When a folder's sources were last changed. */
function newest(folder: string): number {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return Math.max(
    ...files.filter((file) => file.endsWith(".ts") && !file.endsWith("_test.ts"))
      .map((file) => statSync(join(folder, file)).mtimeMs),
  );
}
