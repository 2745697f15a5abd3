import assert from "node:assert/strict";
import { test } from "node:test";
import { didYouMean, nearest } from "./nearest.ts";

const NAMES = ["model", "title", "path", "yolo", "bashTimeout", "bashTimeoutMax"];

test("nearest finds the name behind a slip of the keyboard", () => {
  assert.equal(nearest("modl", NAMES), "model");
  assert.equal(nearest("modle", NAMES), "model");
  assert.equal(nearest("titel", NAMES), "title");
  assert.equal(nearest("pth", NAMES), "path");
  assert.equal(nearest("PATH", NAMES), "path");
  assert.equal(nearest("bash_timeout_max", NAMES), "bashTimeoutMax");
});

test("nearest finds nothing for another word", () => {
  assert.equal(nearest("modern", ["path", "yolo"]), undefined);
  assert.equal(nearest("", NAMES), undefined);
  assert.equal(nearest("x", NAMES), undefined);
  assert.equal(nearest("model", []), undefined);
});

test("didYouMean is a question to append, or nothing", () => {
  assert.equal(didYouMean("yoloo", NAMES), '; did you mean "yolo"?');
  assert.equal(didYouMean("zzzz", NAMES), "");
});
