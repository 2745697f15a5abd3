import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { ModelFacts } from "../model/types.ts";
import { InstructionsReporter } from "./instructions_reporter.ts";
import { type ProjectInstructions, readProjectInstructions } from "./project_instructions.ts";

/** A model whose window becomes known when the test says so. */
class LateModel {
  contextWindow: number | undefined;
  asked = 0;
  #told = Promise.withResolvers<ModelFacts>();

  facts(): Promise<ModelFacts> {
    this.asked++;
    return this.#told.promise;
  }

  async tell(window: number | undefined): Promise<void> {
    this.contextWindow = window;
    this.#told.resolve(window === undefined ? {} : { contextWindow: window });
    this.#told = Promise.withResolvers();
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}

async function instructions(text: string, window?: number): Promise<ProjectInstructions> {
  const cwd = await mkdtemp(join(tmpdir(), "mm-instructions-"));
  try {
    await writeFile(join(cwd, "AGENTS.md"), text);
    return await readProjectInstructions({
      cwd,
      config: { agentsMd: { enabled: true, path: "AGENTS.md", maxChars: 0 } },
      window,
    });
  } finally {
    await rm(cwd, { recursive: true });
  }
}

function reporter() {
  const model = new LateModel();
  const said: string[] = [];
  const reporter = new InstructionsReporter({
    model,
    emit: (event) => said.push(event.type === "notice" ? event.text : event.type),
  });
  return { model, said, reporter };
}

test("a window that becomes known later leads to the warning then, once", async () => {
  const { model, said, reporter: r } = reporter();
  r.begin(await instructions("x".repeat(700)), undefined);
  assert.deepEqual(said, []);
  await model.tell(1000);
  assert.equal(said.length, 1);
  assert.match(said[0] ?? "", /20 % of the model's window of 1000 tokens/);
  r.look();
  await model.tell(1000);
  assert.equal(said.length, 1);
});

test("a server that was not there is asked again, until it tells its window", async () => {
  const { model, said, reporter: r } = reporter();
  r.begin(await instructions("x".repeat(700)), undefined);
  await model.tell(undefined);
  r.look();
  assert.equal(model.asked, 2);
  await model.tell(1000);
  assert.equal(said.length, 1);
  r.look();
  assert.equal(model.asked, 2, "once it is known nobody asks any more");
});

test("a session that ends waits a moment for the window, and is warned about still", async () => {
  const { model, said, reporter: r } = reporter();
  r.begin(await instructions("x".repeat(700)), undefined);
  const closed = r.close();
  await model.tell(1000);
  await closed;
  assert.equal(said.length, 1);
});

test("a conversation that is over, and a closed session, are not warned about", async () => {
  const { model, said, reporter: r } = reporter();
  r.begin(await instructions("x".repeat(700)), undefined);
  r.begin(await instructions("short"), undefined);
  await model.tell(1000);
  assert.deepEqual(said, []);
  model.contextWindow = undefined;
  r.begin(await instructions("x".repeat(700)), undefined);
  // The server tells nothing in time.
  await r.close();
  await model.tell(1000);
  assert.deepEqual(said, []);
});

test("a known window is compared at once, and no server is asked", async () => {
  const { model, said, reporter: r } = reporter();
  model.contextWindow = 1000;
  r.begin(await instructions("x".repeat(700), 1000), 1000);
  assert.equal(said.length, 1);
  assert.equal(model.asked, 0);
});
