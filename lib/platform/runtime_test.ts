import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { promisify } from "node:util";
import { OWN_PERMISSIONS } from "./own_permissions.ts";
import { runtimeName, type SelfCommand, selfCommand, selfCommandFrom } from "./runtime.ts";
import { moduleLiteral } from "./script_for_tests.ts";

const run = promisify(execFile);
const onDeno = { skip: "Deno" in globalThis ? false : "needs Deno" };

test("selfCommandFrom() is the executable alone for a compiled program", () => {
  const deno = { mainModule: "file:///tmp/deno-compile-mm/cli.mjs", standalone: true };
  assert.deepEqual(
    selfCommandFrom({ execPath: "/opt/m m/mm", execArgv: [], script: "/opt/m m/mm", deno }),
    ["/opt/m m/mm"],
  );
  assert.deepEqual(
    selfCommandFrom({ execPath: "/opt/mm", execArgv: [], script: "/$bunfs/root/mm" }),
    ["/opt/mm"],
  );
});

test("selfCommandFrom() keeps Node's flags but not its debugger", () => {
  assert.deepEqual(
    selfCommandFrom({
      execPath: "/usr/bin/node",
      execArgv: ["--max-old-space-size=100", "--inspect-brk=9229", "--inspect"],
      script: "/no/such/cli.mjs",
    }),
    ["/usr/bin/node", "--max-old-space-size=100", "/no/such/cli.mjs"],
  );
  assert.throws(
    () => selfCommandFrom({ execPath: "/usr/bin/node", execArgv: [], script: undefined }),
    /no script is running/u,
  );
});

test("selfCommandFrom() finds the executable that replaced a deleted one", async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "mm-self-"));
  t.after(() => rm(dir, { recursive: true }));
  const exe = join(dir, "mm");
  const facts = {
    execPath: `${exe} (deleted)`,
    execArgv: [],
    script: undefined,
    deno: { mainModule: "file:///x", standalone: true },
  };
  assert.deepEqual(selfCommandFrom(facts), [`${exe} (deleted)`]);
  await writeFile(exe, "");
  assert.deepEqual(selfCommandFrom(facts), [exe]);
});

test("selfCommandFrom() names a remote module by its URL, apart from the files around", () => {
  const mainModule = "https://example.com/@mm/cli/0.1.0/mod.ts";
  assert.deepEqual(
    selfCommandFrom({
      execPath: "/deno",
      execArgv: [],
      script: "/somewhere/$deno$node.mjs",
      deno: { mainModule, standalone: false },
    }),
    ["/deno", "run", ...OWN_PERMISSIONS, "--no-config", mainModule],
  );
});

/** A program with an import map, that prints how it is started again and where it runs. */
const PROGRAM = `
  import { selfCommand } from ${moduleLiteral("./runtime.ts")};
  import { mapped } from "mapped-name";
  console.log(JSON.stringify({
    self: selfCommand(), mapped, cwd: process.cwd(), args: process.argv.slice(2),
  }));
`;

interface Printed {
  readonly self: SelfCommand;
  readonly mapped: number;
  readonly cwd: string;
  readonly args: readonly string[];
}

async function print(
  command: readonly string[],
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Printed> {
  const [exec = "", ...rest] = command;
  const { stdout } = await run(exec, [...rest, ...args], { cwd, env: { ...process.env, ...env } });
  return JSON.parse(stdout) as Printed;
}

test(
  "a program of deno run starts itself again from anywhere, with its deno.json",
  onDeno,
  async (t) => {
    const dir = await realpath(await mkdtemp(join(tmpdir(), "mm self ")));
    t.after(() => rm(dir, { recursive: true }));
    const project = join(dir, "pro ject");
    const elsewhere = join(dir, "elsewhere");
    await mkdir(project);
    await mkdir(elsewhere);
    await writeFile(join(project, "main ü.ts"), PROGRAM);
    await writeFile(join(project, "mapped.ts"), "export const mapped = 7;");
    await writeFile(join(project, "deno.json"), '{"imports": {"mapped-name": "./mapped.ts"}}');
    await writeFile(join(elsewhere, "deno.json"), '{"imports": {"mapped-name": "./nothing.ts"}}');
    await symlink(join(project, "main ü.ts"), join(elsewhere, "link.ts"));
    const exec = selfCommand()[0];
    const expected: SelfCommand = [exec, "run", ...OWN_PERMISSIONS, join(project, "main ü.ts")];

    const relative = await print([exec, "run", "-A", "pro ject/main ü.ts"], ["a b"], dir);
    assert.deepEqual(relative, { self: expected, mapped: 7, cwd: dir, args: ["a b"] });
    const again = await print(relative.self, ["-acp", "--x"], elsewhere);
    assert.deepEqual(again, { self: expected, mapped: 7, cwd: elsewhere, args: ["-acp", "--x"] });
    // Through a symlink Deno itself needs to be told the configuration; started again it is not.
    const config = join(project, "deno.json");
    const linked = await print([exec, "run", "-A", "--config", config, "link.ts"], [], elsewhere);
    assert.deepEqual(linked.self, expected);
  },
);

test(
  "a program of deno run from a URL starts itself again amid a foreign project",
  onDeno,
  async (t) => {
    const dir = await realpath(await mkdtemp(join(tmpdir(), "mm self ")));
    t.after(() => rm(dir, { recursive: true }));
    const files: Record<string, string> = {
      "/cli.ts": PROGRAM.replace(moduleLiteral("./runtime.ts"), '"./runtime.ts"')
        .replace('"mapped-name"', '"./mapped.ts"'),
      "/mapped.ts": "export const mapped = 8;",
      "/runtime.ts": await readFile(new URL("./runtime.ts", import.meta.url), "utf8"),
      "/own_permissions.ts": await readFile(
        new URL("./own_permissions.ts", import.meta.url),
        "utf8",
      ),
    };
    const server = createServer((request, response) => {
      response.setHeader("content-type", "application/typescript");
      response.end(files[request.url ?? ""]);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    t.after(() => server.close());
    const address = server.address();
    assert.ok(typeof address === "object" && address !== null);
    const url = `http://127.0.0.1:${address.port}/cli.ts`;
    const exec = selfCommand()[0];
    await writeFile(join(dir, "deno.json"), '{"imports": {"node:process": "./nothing.ts"}}');
    // What is downloaded here must not stay in the user's cache.
    const env = { DENO_DIR: join(dir, "cache") };
    const first = await print([exec, "run", "-A", "--no-config", url], [], tmpdir(), env);
    assert.deepEqual(first.self, [exec, "run", ...OWN_PERMISSIONS, "--no-config", url]);
    assert.equal((await print(first.self, [], dir, env)).mapped, 8);
  },
);

test("a bundled program under Node starts itself again", async (t) => {
  try {
    await run("node", ["--version"]);
  } catch {
    return t.skip("there is no Node on the PATH");
  }
  const { build, stop } = await import("esbuild");
  t.after(() => stop());
  const dir = await realpath(await mkdtemp(join(tmpdir(), "mm self ")));
  t.after(() => rm(dir, { recursive: true }));
  const file = join(dir, "cli.mjs");
  await build({
    stdin: {
      contents: PROGRAM.replace(
        'from "mapped-name"',
        'from "data:text/javascript,export const mapped = 9;"',
      )
        .replace("file://", ""),
      resolveDir: dir,
      loader: "ts",
    },
    bundle: true,
    format: "esm",
    platform: "node",
    outfile: file,
    logLevel: "silent",
  });
  const first = await print(["node", "--no-warnings", "cli.mjs"], ["x"], dir);
  assert.deepEqual(first.self.slice(1), ["--no-warnings", file]);
  assert.equal(first.mapped, 9);
  assert.deepEqual((await print(first.self, ["y"], tmpdir())).args, ["y"]);
});

test("runtimeName() names the runtime and its version", () => {
  assert.match(runtimeName(), /^(deno \d+\.\d+\.\d+( \(compiled\))?|node \d+\.\d+\.\d+|bun .+)$/u);
  if (!("Deno" in globalThis) && process.versions["bun"] === undefined) {
    assert.equal(runtimeName(), `node ${process.versions.node}`);
  }
});
