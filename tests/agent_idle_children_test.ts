/** How many processes of subagents stay that have nothing to do. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { endsIn, runCalls, textsOf, withStage } from "./support/agent_stage.ts";
import { delegate } from "./support/agents.ts";
import { processesOf } from "./support/leftovers.ts";

test("of the processes of many definitions eight stay, and a run whose process ended for them goes on", () =>
  withStage([(request) => ({ text: textsOf(request).slice(1).join(" | ") })], async (stage) => {
    const names = Array.from({ length: 10 }, (_, at) => `agent-${at}`);
    for (const name of names) {
      await stage.p.write(
        `.mm/agents/${name}.md`,
        `---\nname: ${name}\ndescription: Helps\n---\nYou help with all of it.\n`,
      );
    }
    const id = await stage.start("First", { subagent_type: "agent-0" });
    await stage.finish();
    const results = await stage.rounds(
      ...names.slice(1).map((name) => [
        delegate("Next", { subagent_type: name, run_in_background: false }),
      ]),
    );
    assert.deepEqual(results, ["Next"]);
    const subagents = async () =>
      (await processesOf(stage.p.mark)).filter(({ command }) =>
        /-acp -agent agent-\d/u.test(command)
      ).length;
    // Nothing tells when a process is gone.
    const deadline = performance.now() + 10_000;
    while (await subagents() > 8 && performance.now() < deadline) await sleep(25);
    assert.ok(await subagents() <= 8, `${await subagents()} processes`);
    const [said = ""] = await stage.rounds([runCalls.send(id, "Second")], [runCalls.wait()]);
    const [end] = endsIn(said);
    assert.equal(end?.status, "completed", said);
    assert.match(end?.result ?? "", /^First \| First \| .*\nSecond$/u);
  }));
