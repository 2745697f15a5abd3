/**
 * The model server of the benchmark, in a process of its own. Prints its port, then serves until its
 * stdin ends.
 *
 * @module
 */
import process from "node:process";
import { onTool, onUser, startModelServer } from "../../tests/support/model_server.ts";
import { ASKS, CHUNKS, SLOW_MS, words } from "./script.ts";

const call = (speed: string, index: number) => ({
  name: "ask_agent",
  arguments: { agent: "bob", prompt: `SUBTASK ${speed} ${index}` },
});
const calls = (speed: string, n: number) => ({
  toolCalls: Array.from({ length: n }, (_, index) => call(speed, index)),
});

const server = await startModelServer({
  reply: [
    onUser(/^SUBTASK fast/u, { text: "SUBANSWER forty-two" }),
    onUser(/^SUBTASK slow/u, { text: "SUBANSWER forty-two", delayMs: SLOW_MS }),
    onUser("MANY", { chunks: words(CHUNKS) }),
    onUser("ASK ONE", calls("fast", 1)),
    onUser("ASK ALL", calls("fast", ASKS)),
    onUser("ASK SLOW", calls("slow", ASKS)),
    onUser("PLAIN", { text: "pong" }),
    // The answers asked for are repeated, so that the benchmark sees that they came.
    onTool("", (request) => {
      const asked = request.messages.findLastIndex((message) => message.role === "assistant");
      const answers = request.messages.slice(asked + 1).filter((m) =>
        String(m.content).includes("SUBANSWER")
      );
      return { text: `DONE ${answers.length}` };
    }),
  ],
});
process.stdout.write(`${server.port}\n`);
for await (const _ of process.stdin) { /* Until its end. */ }
await server.close();
process.exit(0);
