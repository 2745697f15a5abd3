import assert from "node:assert/strict";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { withProject } from "../../tests/support/project.ts";
import { sizeOnDisk } from "./disk_size.ts";

test("a folder is as large as its files, and what a link leads to does not count twice", () =>
  withProject(async ({ dir }) => {
    await mkdir(join(dir, "folder"));
    await writeFile(join(dir, "folder", "a"), "x".repeat(1000));
    await writeFile(join(dir, "b"), "x".repeat(10_000));
    assert.equal(await sizeOnDisk(join(dir, "b")), 10_000);
    await symlink(join(dir, "folder", "a"), join(dir, "link"));
    const size = await sizeOnDisk(dir);
    assert.ok(size >= 11_000 && size < 12_000, `${size}`);
  }));
