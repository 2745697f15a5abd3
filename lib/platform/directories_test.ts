import assert from "node:assert/strict";
import { rm, stat } from "node:fs/promises";
import { basename } from "node:path";
import { test } from "node:test";
import { configDir, privateTempDir, stateDir } from "./directories.ts";

test("the directories follow the system's conventions", () => {
  assert.equal(configDir({}, "/home/u", "linux"), "/home/u/.config");
  assert.equal(stateDir({}, "/home/u", "linux"), "/home/u/.local/state/mm");
  assert.equal(configDir({}, "/home/u", "freebsd"), "/home/u/.config");
  assert.equal(configDir({}, "/Users/u", "darwin"), "/Users/u/Library/Application Support");
  assert.equal(stateDir({}, "/Users/u", "darwin"), "/Users/u/Library/Application Support/mm");
  const windows = { APPDATA: "C:\\U\\Roaming", LOCALAPPDATA: "D:\\Local" };
  assert.equal(configDir(windows, "C:\\U", "win32"), "C:\\U\\Roaming");
  assert.equal(stateDir(windows, "C:\\U", "win32"), "D:\\Local\\mm");
  assert.equal(configDir({}, "C:\\U", "win32"), "C:\\U\\AppData\\Roaming");
});

test("XDG variables count when they are absolute", () => {
  assert.equal(configDir({ XDG_CONFIG_HOME: "/x" }, "/home/u", "linux"), "/x");
  assert.equal(configDir({ XDG_CONFIG_HOME: "x" }, "/home/u", "linux"), "/home/u/.config");
  assert.equal(stateDir({ XDG_STATE_HOME: "/y" }, "/Users/u", "darwin"), "/y/mm");
  assert.equal(stateDir({ XDG_STATE_HOME: "" }, "/home/u", "linux"), "/home/u/.local/state/mm");
});

test("mm's own variables name the directory itself and must be absolute", () => {
  assert.equal(configDir({ MM_CONFIG_DIR: "/c d" }, "/home/u", "linux"), "/c d");
  assert.equal(stateDir({ MM_STATE_DIR: "/s", XDG_STATE_HOME: "/y" }, "/home/u", "linux"), "/s");
  assert.throws(() => configDir({ MM_CONFIG_DIR: "c" }, "/home/u", "linux"), {
    name: "UsageError",
    message: 'Cannot use the directory "c" of MM_CONFIG_DIR: the path is not absolute',
  });
});

test("privateTempDir() creates a directory for this user alone", async (t) => {
  const path = await privateTempDir("mm-test-");
  t.after(() => rm(path, { recursive: true }));
  assert.match(basename(path), /^mm-test-.{6,}/u);
  assert.equal((await stat(path)).mode & 0o777, 0o700);
});
