/**
 * The bare loop that reading a stream is compared with: it fetches, reads every byte and does nothing
 * with it. Prints how many milliseconds the body took.
 *
 * @module
 */
import process from "node:process";

const url = process.argv.at(-1) ?? "";
const response = await fetch(`${url}/chat/completions`, { method: "POST", body: "{}" });
const reader = response.body?.getReader();
const first = await reader?.read();
const start = performance.now();
let bytes = first?.value?.length ?? 0;
for (;;) {
  const next = await reader?.read();
  if (next === undefined || next.done) break;
  bytes += next.value.length;
}
process.stdout.write(`${performance.now() - start} ${bytes}\n`);
