/** Whose yolo decides about an asked agent's calls: each row of the table, with three real agents. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import {
  rowFits,
  YOLO_TABLE,
  type YoloFacts,
  yoloOutcome,
  type YoloRow,
  yoloTableText,
} from "../lib/agents/yolo.ts";
import { askAgent, bash, type Keys } from "./support/agents.ts";
import { forModel, type ModelServer, onTool, onUser } from "./support/model_server.ts";
import { type TestProject, withProject } from "./support/project.ts";

const MAYBE = [undefined, true, false] as const;

/** Every combination of all that could be thought to count. */
const ALL_FACTS: readonly YoloFacts[] = [true, false].flatMap((asked) =>
  [true, false].flatMap((flag) =>
    MAYBE.flatMap((environment) =>
      MAYBE.flatMap((file) =>
        MAYBE.flatMap((entry) =>
          MAYBE.flatMap((bobsFile) =>
            (["person", "script"] as const).map((frontEnd) => ({
              asked,
              flag,
              environment,
              file,
              entry,
              bobsFile,
              frontEnd,
            }))
          )
        )
      )
    )
  )
);

const firstRow = (facts: YoloFacts) => YOLO_TABLE.find((row) => rowFits(row, facts));

test("the table says of every combination what the rule says, and each row is needed", () => {
  assert.equal(ALL_FACTS.length, 2 * 2 * 3 ** 4 * 2);
  const needed = new Set<YoloRow>();
  for (const facts of ALL_FACTS) {
    const row = firstRow(facts);
    assert.ok(row !== undefined, JSON.stringify(facts));
    assert.equal(row.outcome, yoloOutcome(facts), JSON.stringify(facts));
    needed.add(row);
  }
  assert.equal(needed.size, YOLO_TABLE.length);
});

test("the reference shows the table", async () => {
  const page = await readFile(new URL("../docs/reference/asking.md", import.meta.url), "utf8");
  const cells = (text: string) => text.split("\n").map((line) => line.replace(/\s+/gu, " "));
  const shown = cells(page).join("\n");
  // The formatter chooses the widths of a table; what stands in it is mm's.
  for (const line of cells(yoloTableText()).filter((line) => !/^[|\s-]+$/u.test(line))) {
    assert.ok(shown.includes(line), `docs/reference/asking.md lacks the row ${line}`);
  }
});

/** A row with the facts for which it stands, all else against its outcome. */
interface Case {
  readonly name: string;
  readonly facts: YoloFacts;
}

const CASES: readonly Case[] = YOLO_TABLE.map((row, at) => {
  const wish = row.outcome === "runs";
  const against = ({ flag, environment, file, entry, bobsFile }: YoloFacts) =>
    [flag, environment, file, entry, bobsFile].filter((one) => one === !wish).length;
  const [facts] = ALL_FACTS.filter((one) => firstRow(one) === row)
    .sort((a, b) => against(b) - against(a));
  if (facts === undefined) throw new Error("a row that no facts fit");
  return { name: `row${at + 1}`, facts };
});

/** The cases that one process of yours can show: they differ in bob's entry and his file alone. */
const PROCESSES = Map.groupBy(
  CASES,
  ({ facts: { asked, flag, environment, file, frontEnd } }) =>
    JSON.stringify({ asked, flag, environment, file, frontEnd }),
);

for (const [key, cases] of PROCESSES) {
  const [{ facts: shared }] = cases as [Case];
  const names = cases.map(({ name, facts }) =>
    `${name} (entry ${facts.entry}, bob's file ${facts.bobsFile}): ${yoloOutcome(facts)}`
  );
  test(`${names.join("; ")}; with ${key}`, () =>
    withProject(async (p) => {
      const server = await writeCases(p, cases, shared);
      const args = shared.flag ? ["-yolo"] : [];
      const env = {
        ...(shared.environment === undefined ? {} : { AGENT_YOLO: String(shared.environment) }),
        ...(shared.asked ? { MM_ASK_DEPTH: "1" } : {}),
      };
      if (shared.frontEnd === "script") {
        await Promise.all(cases.map(async ({ name }) => {
          const run = await p.runMm(["--ask", name, `go ${name}`, ...args], { env });
          assert.equal(run.code, 0, run.stderr);
        }));
        for (const { name, facts } of cases) checkCalls(server, name, facts);
        return;
      }
      const editor = p.editor(args, { env });
      editor.onPermission = "allow_once";
      await editor.initialize();
      await Promise.all(cases.map(async ({ name, facts }) => {
        const session = await editor.newSession();
        await editor.prompt(session, `/ask-${name} go ${name}`);
        const asked = editor.permissions.filter((one) => one.sessionId === session)
          .map(({ toolCall }) => toolCall._meta.mm.name).sort();
        const all = [`${name}/ask_agent`, `${name}/bash`, `${name}/riker/bash`];
        const expected = yoloOutcome(facts) === "runs" ? [] : facts.asked ? [all[1]] : all;
        assert.deepEqual(asked, expected, name);
        checkCalls(server, name, facts);
      }));
    }));
}

/** Writes your file with an entry for each case, and a bob and a riker of each kind. */
async function writeCases(
  p: TestProject,
  cases: readonly Case[],
  shared: YoloFacts,
): Promise<ModelServer> {
  const server = await p.model({
    reply: [
      forModel(
        "bob",
        onUser(/^go /u, (request) => ({
          toolCalls: shared.asked
            ? [bash("echo it ran")]
            : [bash("echo it ran"), askAgent("riker", request.lastUser)],
        })),
        onTool(/(?:)/u, { text: "Done." }),
      ),
      forModel(
        "riker",
        onUser(/^go /u, { toolCalls: [bash("echo it ran")] }),
        onTool(/(?:)/u, { text: "Done." }),
      ),
    ],
  });
  const write = (name: string, model: string, yolo: boolean | undefined, keys: Keys = {}) =>
    p.write(
      `${name}.yaml`,
      JSON.stringify({ provider: "llamacpp", baseUrl: server.url, model, yolo, ...keys }),
    );
  for (const yolo of MAYBE) {
    await write(`riker-${yolo}`, "riker", yolo);
    await write(`bob-${yolo}`, "bob", yolo, {
      mmConfigs: { riker: { path: `riker-${yolo}.yaml`, yolo } },
    });
  }
  const entries = cases.map(({ name, facts: { entry, bobsFile } }) => [
    name,
    { path: `bob-${bobsFile}.yaml`, yolo: entry },
  ]);
  await write("agent", "you", shared.file, {
    mmConfigs: Object.fromEntries(entries),
    // In a script nobody permits that bob asks riker; what riker may do is the question.
    ...(shared.frontEnd === "script" ? { permissions: { allow: ["*/ask_agent"] } } : {}),
  });
  return server;
}

/** Checks that bob's and riker's commands ran, or that both were refused. */
function checkCalls(server: ModelServer, name: string, facts: YoloFacts): void {
  // At the depth of bob's place the agent asked is the last of the chain.
  for (const model of facts.asked ? ["bob"] : ["bob", "riker"]) {
    const last = server.requests.findLast((r) =>
      r.model === model && r.lastUser === `go ${name}` && r.last.role === "tool"
    );
    const [result] = last?.messages.filter((message) => message.role === "tool") ?? [];
    const text = String(result?.content);
    if (yoloOutcome(facts) === "refused") {
      assert.match(
        text,
        /nobody is there to answer a permission question/u,
        `${name} ${model}`,
      );
      assert.doesNotMatch(text, /^it ran/mu);
    } else assert.match(text, /it ran/u, `${name} ${model}`);
  }
}
