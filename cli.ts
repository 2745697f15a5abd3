#!/usr/bin/env -S deno run -A
/**
 * The program `mm`.
 *
 * @module
 */
import process from "node:process";
import { runProgram } from "./lib/cli/main.ts";

await runProgram(process.argv.slice(2));
