/**
 * Writes `agent.schema.json`, the JSON Schema of the configuration, from the schema in the code.
 * With `--check` it writes nothing and fails when the file is not what would be written.
 *
 * @module
 */
import { readFile, writeFile } from "node:fs/promises";
import process from "node:process";
import { jsonSchemaText } from "../lib/config/json_schema.ts";

const file = new URL("../agent.schema.json", import.meta.url);
const wanted = jsonSchemaText();

if (process.argv.includes("--check")) {
  const found = await readFile(file, "utf8").catch(() => "");
  if (found.replaceAll("\r\n", "\n") !== wanted) {
    process.stderr.write(
      "agent.schema.json differs from lib/config/schema.ts; run scripts/write_schema.ts\n",
    );
    process.exitCode = 1;
  }
} else {
  await writeFile(file, wanted);
}
