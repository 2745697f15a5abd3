/**
 * What mm itself may do: the list is what it needs, and nothing beside it is reached for. All other
 * tests from source run with the same list, so an access that is not on it fails there too.
 *
 * @module
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { promisify } from "node:util";
import { OWN_PERMISSIONS, OWN_SYS } from "../lib/platform/own_permissions.ts";
import { ROOT } from "../scripts/checks/repository.ts";
import { askAgent, bash, writeAgents } from "./support/agents.ts";
import { always, forModel, inOrder } from "./support/model_server.ts";
import type { Program } from "./support/program.ts";
import { withProject } from "./support/project.ts";

/** One access, as Deno records it where `DENO_AUDIT_PERMISSIONS` names a file. */
interface Access {
  readonly permission: string;
  readonly value: string | null;
}

/** mm from source; each process records its accesses in a file of its own in `directory`. */
function audited(directory: string): Program {
  const mm = [process.execPath, "run", ...OWN_PERMISSIONS, "--no-check", join(ROOT, "cli.ts")];
  const script = 'DENO_AUDIT_PERMISSIONS="$0/$$.jsonl"; export DENO_AUDIT_PERMISSIONS; exec "$@"';
  return ["/bin/sh", "-c", script, directory, ...mm];
}

async function accesses(directory: string): Promise<Access[]> {
  const found: Access[] = [];
  for (const name of await readdir(directory)) {
    const lines = (await readFile(join(directory, name), "utf8")).split("\n");
    for (const line of lines) if (line !== "") found.push(JSON.parse(line) as Access);
  }
  return found;
}

/** The kinds of access on the list: `read`, `sys`, … */
const KINDS = OWN_PERMISSIONS.flatMap((flag) => /^--allow-([a-z]+)/u.exec(flag)?.[1] ?? []);

test("mm and the agents it asks reach for nothing that is not on the list", () =>
  withProject(async (p) => {
    const audit = join(p.home, "audit");
    await mkdir(audit);
    const program = audited(audit);
    const server = await p.model({
      reply: [
        forModel("bob", inOrder({ toolCalls: [bash("echo 42 > n")] }, { text: "42" })),
        forModel(
          "you",
          inOrder(
            { toolCalls: [{ name: "write", arguments: { path: "a.txt", content: "one\n" } }] },
            { toolCalls: [{ name: "read", arguments: { path: "a.txt" } }] },
            {
              toolCalls: [
                {
                  name: "edit",
                  arguments: { path: "a.txt", old_string: "one", new_string: "two" },
                },
                { name: "glob", arguments: { pattern: "*.txt" } },
                { name: "grep", arguments: { pattern: "two" } },
                { name: "ls", arguments: {} },
              ],
            },
            { toolCalls: [askAgent("bob", "Why?")] },
            { text: "done" },
          ),
        ),
        always({ text: "ready" }),
      ],
    });
    await writeAgents(p, {
      server,
      you: { yolo: true },
      bobEntry: { command: [...program, "-acp", "-config", "bob.yaml"], yolo: true },
    });
    const editor = p.editor([], { program });
    const session = await editor.start();
    await editor.prompt(session, "Go");
    assert.equal(editor.text(session), "done");
    assert.equal(await p.read("n"), "42\n");
    await editor.mm.stop();
    for (const args of [["-version"], ["-help"], ["-completions", "zsh"], ["-check"]]) {
      const { code, stderr } = await p.runMm(args, { program });
      assert.equal(code, 0, stderr);
    }
    const line = await p.runMm(["-line"], { program, stdin: "/agents\n/quit\n" });
    assert.equal(line.code, 0, line.stderr);

    const seen = await accesses(audit);
    for (const { permission, value } of seen) {
      assert.ok(KINDS.includes(permission), `${permission} ${value}`);
      if (permission === "sys") assert.ok(OWN_SYS.includes(value ?? ""), `sys ${value}`);
    }
    const kinds = new Set(seen.map(({ permission }) => permission));
    for (const kind of ["read", "write", "env", "sys"]) assert.ok(kinds.has(kind), kind);
  }));

test("what is not on the list is refused, without a question on the terminal", async () => {
  const attempts: Readonly<Record<string, string>> = {
    ffi: 'Deno.dlopen("libc.so.6", {})',
    sys: "Deno.osRelease()",
    import: 'await import("https://127.0.0.1:1/x.js")',
  };
  for (const [kind, code] of Object.entries(attempts)) {
    const script = `try { ${code}; console.log("done"); } catch (e) { console.log(String(e)); }`;
    const url = `data:text/javascript,${encodeURIComponent(script)}`;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["run", ...OWN_PERMISSIONS, "--no-config", url],
      { env: { ...process.env, NO_COLOR: "1" } },
    );
    assert.match(stdout, new RegExp(`Requires ${kind} access`), kind);
  }
});

test("each entry of the list is explained", async () => {
  const page = join(ROOT, "docs", "reference", "permissions-of-the-executable.md");
  const text = await readFile(page, "utf8");
  for (const flag of OWN_PERMISSIONS) assert.ok(text.includes(`| \`${flag}\``), flag);
  for (const name of OWN_SYS) assert.ok(text.includes(`\`${name}\``), name);
  const listed = text.match(/^\| `--[a-z]+[^`]*`/gmu) ?? [];
  assert.equal(listed.length, OWN_PERMISSIONS.length, "nothing is explained that is not granted");
});
