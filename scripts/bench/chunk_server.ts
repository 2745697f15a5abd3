/**
 * A model server in a process of its own that answers every request with the same number of chunks,
 * one write for each, as fast as it is read. Prints its port, then serves until its stdin ends.
 *
 * @module
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { words } from "./script.ts";

const chunks = words(Number(process.argv.at(-1))).map((content) =>
  `data: ${
    JSON.stringify({
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [{ index: 0, delta: { content }, finish_reason: null }],
    })
  }\n\n`
);
const END = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

const server = createServer(async (request, response) => {
  request.resume();
  if (request.method !== "POST") {
    response.writeHead(404).end();
    return;
  }
  await once(request, "end");
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.socket?.setNoDelay(true);
  for (const chunk of chunks) {
    if (!response.write(chunk)) await once(response, "drain");
  }
  response.end(END);
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
process.stdin.on("end", () => process.exit(0));
process.stdin.resume();
