/**
 * What a release is made of: files of their target, equal builds, packages that install, texts that
 * are current.
 *
 * @module
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { promisify } from "node:util";
import { parse } from "yaml";
import { VERSION } from "../lib/base/version.ts";
import { FLAGS } from "../lib/cli/flags.ts";
import { bundle } from "../scripts/bundle.ts";
import { ROOT } from "../scripts/checks/repository.ts";
import { EXECUTABLE } from "../scripts/compile.ts";
import { MAN_PAGE, manPage } from "../scripts/man_page.ts";
import { npmPackage } from "../scripts/npm_package.ts";
import { hostTarget } from "../scripts/release.ts";
import { SUMS_FILE } from "../scripts/release/checksums.ts";
import { checkExecutable, executableHeader } from "../scripts/release/executable_header.ts";
import { NOTICES_FILE } from "../scripts/release/notices.ts";
import { acpManifest, fillIn, type Release } from "../scripts/release/place.ts";
import { RUNTIMES } from "../scripts/release/runtimes.ts";
import { tar } from "../scripts/release/tar.ts";
import { TARGETS } from "../scripts/release/targets.ts";
import { type TestProject, withProject } from "./support/project.ts";

const run = promisify(execFile);

const onUnix = { skip: process.platform === "win32" ? "tar, cp and npm as on Unix" : false };

/** A release of all targets, with sums of nothing. */
const RELEASE: Release = {
  version: VERSION,
  repository: "https://example.com/some/mm",
  sums: new Map(TARGETS.map(({ file }, index) => [file, String(index).repeat(64)])),
};

test("deno.json and the program say the same version", async () => {
  const manifest = JSON.parse(await readFile(join(ROOT, "deno.json"), "utf8"));
  assert.equal(manifest.version, VERSION);
});

test("executableHeader() tells the targets apart by their first bytes, and is not deceived by scraps", () => {
  const head = (write: (view: DataView) => void) => {
    const bytes = new Uint8Array(256);
    write(new DataView(bytes.buffer));
    return bytes;
  };
  const elf = (machine: number) =>
    head((view) => {
      view.setUint32(0, 0x7f454c46);
      view.setUint16(4, 0x0201);
      view.setUint16(18, machine, true);
    });
  const machO = (cpu: number) =>
    head((view) => {
      view.setUint32(0, 0xfeedfacf, true);
      view.setUint32(4, cpu, true);
    });
  const pe = (machine: number, at = 0x80) =>
    head((view) => {
      view.setUint16(0, 0x4d5a);
      view.setUint32(0x3c, at, true);
      if (at > 200) return;
      view.setUint32(at, 0x50450000);
      view.setUint16(at + 4, machine, true);
    });
  const samples = [elf(62), elf(183), machO(0x01000007), machO(0x0100000c), pe(0x8664)];
  assert.deepEqual(
    samples.map(executableHeader),
    TARGETS.map(({ format, machine }) => ({ format, machine })),
  );
  for (
    const scrap of [
      new Uint8Array(),
      elf(62).subarray(0, 30),
      pe(0x8664, 0xffff),
      new Uint8Array(256),
      new TextEncoder().encode("#!/bin/sh\n".repeat(20)),
    ]
  ) {
    assert.equal(executableHeader(scrap), undefined);
  }
});

test("an executable of another target than its name says is refused", async () => {
  const host = hostTarget();
  assert.ok(host !== undefined);
  await checkExecutable(process.execPath, host);
  for (const other of TARGETS.filter((target) => target !== host)) {
    await assert.rejects(
      checkExecutable(process.execPath, other),
      new RegExp(`is not an executable for ${other.name}: expected ${other.format}`),
    );
  }
});

test("tar() makes what tar unpacks: names, bytes, modes", onUnix, () =>
  withProject(async (p) => {
    const bytes = (size: number) => new Uint8Array(size).map((_, index) => index * 7);
    const files = [
      { name: "mm", content: bytes(1025), executable: true },
      { name: "share/man/man1/mm.1", content: bytes(512) },
      { name: "empty", content: bytes(0) },
    ];
    const archive = await p.write("a.tar", tar(files));
    const listed = await run("tar", ["-tf", archive]);
    assert.deepEqual(listed.stdout.trim().split("\n"), files.map(({ name }) => name));
    await run("tar", ["-xf", archive, "-C", p.home]);
    for (const { name, content, executable } of files) {
      assert.deepEqual(new Uint8Array(await readFile(join(p.home, name))), content, name);
      const { mode } = await stat(join(p.home, name));
      assert.equal((mode & 0o100) !== 0, executable === true, name);
    }
    assert.throws(() => tar([{ name: "ä", content: bytes(1) }]), /Cannot archive "ä"/);
  }));

/** Copies what a build reads, so that the same commit stands in two places. */
async function copySources(to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const name of ["lib", "scripts", "packaging"]) {
    await cp(join(ROOT, name), join(to, name), { recursive: true });
  }
  for (const name of ["cli.ts", "mod.ts", "deno.json", "deno.lock", "LICENSE", "README.md"]) {
    await cp(join(ROOT, name), join(to, name));
  }
  // Files and not a link to the folder: a bundler would see where a link leads.
  await run("cp", ["-a", join(ROOT, "node_modules"), join(to, "node_modules")]);
}

/** Every file below a directory with its sum, time and mode. */
async function listing(directory: string): Promise<string[]> {
  const lines: string[] = [];
  for (const name of (await readdir(directory, { recursive: true })).sort()) {
    const path = join(directory, name);
    const { mtimeMs, mode } = await stat(path);
    const sum = (await stat(path)).isFile()
      ? createHash("sha256").update(await readFile(path)).digest("hex")
      : "directory";
    lines.push(`${name} ${sum} ${mtimeMs} ${mode.toString(8)}`);
  }
  return lines;
}

test(
  "two builds in different directories are equal to the byte: bundle, executable, archive, sums",
  onUnix,
  async (t) => {
    const canCompile = process.env.DENORT_BIN !== undefined;
    if (!canCompile) t.diagnostic("without DENORT_BIN only the bundles are compared");
    const target = hostTarget();
    assert.ok(target !== undefined);
    await withProject(async (p) => {
      const places = [join(p.home, "one"), join(p.home, "another", "place with blanks")];
      const [first, second] = await Promise.all(places.map(async (place) => {
        await copySources(place);
        const script = canCompile ? ["scripts/release.ts", target.name] : ["scripts/bundle.ts"];
        await run(process.execPath, ["run", "-A", "--no-check", ...script], { cwd: place });
        return await listing(join(place, "build", canCompile ? "release" : "bundle"));
      }));
      // Times of released files are when they were written; those of a bundle go into the executable.
      const relevant = (lines: string[] | undefined) =>
        lines?.map((line) => canCompile ? line.split(" ").slice(0, 2).join(" ") : line);
      assert.deepEqual(relevant(first), relevant(second));
      assert.ok((first?.length ?? 0) > 2);
      if (!canCompile) return;
      const release = join(places[0] ?? "", "build", "release");
      const sums = await readFile(join(release, SUMS_FILE), "utf8");
      assert.match(sums, new RegExp(`^[0-9a-f]{64}  ${target.file.replaceAll(".", "\\.")}$`, "m"));
      await run("tar", ["-xzf", join(release, target.file), "-C", p.dir]);
      const mm = await run(p.path("mm"), ["-version"]);
      assert.match(mm.stdout, new RegExp(`^mm ${VERSION} \\(deno \\S+, commit unknown\\)\n$`));
      assert.match(await p.read(NOTICES_FILE), /^openai 6\.\S+ \(Apache-2\.0\)$/m);
    });
  },
);

test("the program adds at most 4 MB to a bare executable", () =>
  withProject(async (p) => {
    const folder = join(p.home, "bundle");
    await bundle(join(ROOT, "cli.ts"), folder);
    let size = 0;
    for (const name of await readdir(folder, { recursive: true })) {
      const found = await stat(join(folder, name));
      if (found.isFile()) size += found.size;
    }
    assert.ok(size > 100_000 && size <= 4_000_000, `${size} bytes`);
  }));

test("an executable that was removed while it runs is named when bob cannot be started from it", {
  skip: existsSync(EXECUTABLE) ? false : "build/mm is not here: the task compile makes it",
}, () =>
  withProject(async (p) => {
    await p.write("agent.yaml", "provider: demo\nyolo: true\nmmConfigs: {bob: {path: bob.yaml}}\n");
    await p.write("bob.yaml", "provider: demo\n");
    const mm = join(p.home, "mm");
    await cp(EXECUTABLE, mm);
    const editor = p.editor([], { program: [mm] });
    const session = await editor.start();
    await rm(mm);
    await assert.rejects(
      editor.prompt(session, "/ask-bob list"),
      (error: Error) => error.message.includes(`Cannot start "${mm}": there is no such file`),
    );
    await cp(EXECUTABLE, mm);
    await editor.prompt(session, "/ask-bob list");
    assert.match(editor.text(session), /bob\.yaml/);
  }));

test("a target whose runtime cannot be had is named, the others are built, the status is 1", {
  skip: process.env.DENORT_BIN === undefined
    ? "needs DENORT_BIN: where runtimes can be downloaded, all targets are built"
    : false,
}, () =>
  withProject(async (p) => {
    const out = join(p.home, "out");
    const env = { ...process.env, MM_DENO_COMPILE: JSON.stringify(["false"]), NO_COLOR: "1" };
    const script = ["run", "-A", "--no-check", join(ROOT, "scripts", "release.ts"), "--out", out];
    const failed = await run(process.execPath, [...script, "linux-arm64"], { env }).then(
      () => assert.fail("it succeeded"),
      (error: { readonly code: number; readonly stderr: string }) => error,
    );
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /^Not built: linux-arm64\. Each needs the runtime denort \S+ of/m);
    assert.match(failed.stderr, /linux-arm64: .* for aarch64-unknown-linux-gnu/);
    assert.deepEqual((await readdir(out)).sort(), [SUMS_FILE, NOTICES_FILE]);
    await assert.rejects(
      run(process.execPath, [...script, "solaris"], { env }),
      /Unknown target "solaris"; the targets are linux-x64/,
    );
  }));

test("the manual page is current, names every flag, and has no fault that groff knows of", async (t) => {
  assert.equal(await readFile(MAN_PAGE, "utf8"), manPage(), "run the task man");
  for (const { name } of FLAGS) {
    assert.ok(manPage().includes(`\\-${name.replaceAll("-", "\\-")}`), name);
  }
  try {
    const { stderr } = await run("groff", ["-man", "-ww", "-z", "-Tutf8", MAN_PAGE]);
    assert.equal(stderr, "");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    t.diagnostic("there is no groff here");
  }
});

test("the formula and the install script of a release have every value filled in", async () => {
  const formula = fillIn(await readFile(join(ROOT, "packaging", "mm.rb"), "utf8"), RELEASE);
  for (const { file, executable } of TARGETS.filter((target) => target.format !== "PE")) {
    const url = `https://example.com/some/mm/releases/download/v${VERSION}/${file}`;
    assert.equal(executable, "mm");
    assert.ok(
      formula.includes(`url "${url}"\n      sha256 "${RELEASE.sums.get(file)}"`),
      `${file} with its sum`,
    );
  }
  const script = fillIn(await readFile(join(ROOT, "packaging", "install.sh"), "utf8"), RELEASE);
  assert.match(script, /^default_from='https:\/\/example\.com\/some\/mm\/releases\/download\/v/m);
  for (const text of [formula, script]) assert.doesNotMatch(text, /@[A-Z]/);
  assert.throws(() => fillIn("@NONSENSE@", RELEASE), /Cannot fill in "@NONSENSE@"/);
  assert.throws(() => fillIn("@SHA256_LINUX_X64@", { ...RELEASE, sums: new Map() }), /not known/);
});

test("agent.json has what the registry of ACP agents asks for, on every platform", () => {
  const manifest = JSON.parse(acpManifest(RELEASE));
  assert.match(manifest.id, /^[a-z][a-z0-9-]*$/);
  assert.match(manifest.version, /^\d+\.\d+\.\d+$/);
  for (const key of ["name", "description", "license"]) assert.ok(manifest[key].length > 0, key);
  for (const key of ["repository", "license_url"]) assert.ok(URL.canParse(manifest[key]), key);
  assert.deepEqual(Object.keys(manifest.distribution), ["binary", "npx"]);
  const { binary, npx } = manifest.distribution;
  assert.deepEqual(
    Object.keys(binary).sort(),
    ["darwin-aarch64", "darwin-x86_64", "linux-aarch64", "linux-x86_64", "windows-x86_64"],
  );
  for (const entry of Object.values<Record<string, unknown>>(binary)) {
    assert.deepEqual(Object.keys(entry), ["archive", "sha256", "cmd", "args"]);
    assert.ok(URL.canParse(String(entry["archive"])));
    assert.match(String(entry["sha256"]), /^[0-9a-f]{64}$/);
    assert.deepEqual(entry["args"], ["-acp"]);
  }
  assert.deepEqual(npx, { package: `@mm/cli@${VERSION}`, args: ["-acp"] });
  assert.throws(() => acpManifest({ ...RELEASE, sums: new Map() }), /linux-x64 was not built/);
});

test("the icon for the registry is 16 by 16 and takes the colour of the text", async () => {
  const icon = await readFile(join(ROOT, "packaging", "icon.svg"), "utf8");
  assert.match(icon, /^<svg [^>]*width="16" height="16" viewBox="0 0 16 16"/);
  const colours = [...icon.matchAll(/(?:fill|stroke)="([^"]*)"/gu)].map((match) => match[1]);
  assert.deepEqual(new Set(colours), new Set(["none", "currentColor"]));
});

test("every action of the workflows is pinned to a commit, and no job has more rights than it says", async () => {
  const folder = join(ROOT, ".github", "workflows");
  for (const name of await readdir(folder)) {
    const workflow = parse(await readFile(join(folder, name), "utf8"));
    assert.ok("permissions" in workflow, `${name} has permissions`);
    for (const [id, job] of Object.entries<Record<string, unknown>>(workflow.jobs)) {
      const steps = (job["steps"] ?? [job]) as readonly { readonly uses?: string }[];
      for (const { uses } of steps) {
        if (uses === undefined || uses.startsWith("./")) continue;
        assert.match(uses, /^[\w.-]+\/[\w./-]+@[0-9a-f]{40}$/, `${name}, ${id}`);
      }
    }
  }
});

/** Packs and installs the npm package below a project; returns the directory it is installed in. */
async function installPackage(p: TestProject, env: Record<string, string>): Promise<string> {
  const folder = join(p.home, "package");
  await npmPackage({ folder, repository: "https://example.com/some/mm" });
  const npm = (args: readonly string[], cwd: string) =>
    run("npm", [...args, "--offline", "--no-audit", "--no-fund"], { cwd, env });
  const packed = await npm(["pack", "--json"], folder);
  const [{ filename, files }] = JSON.parse(packed.stdout);
  const names = (files as { path: string }[]).map(({ path }) => path).sort();
  assert.deepEqual(names.filter((path) => !path.startsWith("chunks/")), [
    "LICENSE",
    "README.md",
    NOTICES_FILE,
    "mm.mjs",
    "package.json",
  ]);
  const project = join(p.home, "a project");
  await mkdir(project);
  await writeFile(join(project, "package.json"), '{"private": true}');
  await npm(["install", join(folder, filename)], project);
  return project;
}

test(
  "the npm package has no dependencies and no scripts, installs offline, and npx runs it",
  onUnix,
  () =>
    withProject(async (p) => {
      const node = RUNTIMES.find(({ name }) => name === "node")?.program ?? "";
      // A new enough Node before the one of the PATH, where it was brought.
      const bin = existsSync(node) ? `${join(node, "..")}:` : "";
      const env = {
        ...p.env,
        PATH: `${bin}${p.env["PATH"]}`,
        npm_config_cache: join(p.home, "npm"),
      };
      const project = await installPackage(p, env);
      const manifest = JSON.parse(
        await readFile(join(project, "node_modules", "@mm", "cli", "package.json"), "utf8"),
      );
      assert.equal(manifest.version, VERSION);
      assert.equal(manifest.dependencies, undefined);
      assert.equal(manifest.scripts, undefined);
      assert.deepEqual(manifest.engines, { node: ">=22" });
      assert.equal(manifest.repository.url, "git+https://example.com/some/mm.git");
      const { stdout } = await run("npx", ["--no-install", "mm", "-version"], {
        cwd: project,
        env,
      });
      assert.match(stdout, new RegExp(`^mm ${VERSION} \\(node \\S+, commit \\S+\\)\n$`));
      const major = Number(/\(node (\d+)/u.exec(stdout)?.[1]);
      // An older one than mm is made for starts it, and no more is promised.
      if (major < 22) return;
      const demo = await run("npx", ["--no-install", "mm", "-demo"], { cwd: project, env });
      assert.match(demo.stdout, /All four worked/);
    }),
);
