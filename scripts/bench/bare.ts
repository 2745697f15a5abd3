/**
 * The bare program that mm is compared with: it starts, says a line and, with `wait`, lives until its
 * stdin ends. Whatever the runtime costs by itself, this program costs too.
 *
 * @module
 */
import process from "node:process";

process.stdout.write("bare\n");
if (process.argv.at(-1) === "wait") {
  process.stdin.on("end", () => process.exit(0));
  process.stdin.resume();
}
