import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { isWindows } from "./runtime.ts";
import { moduleLiteral, runScript } from "./script_for_tests.ts";

const onGroups = { skip: isWindows };

test(
  "a program that is killed with -9 leaves none of its directories, and all of everyone else's",
  onGroups,
  async () => {
    const root = await mkdtemp(join(tmpdir(), "mm reaper  'dirs' $x-"));
    try {
      const paths = {
        held: join(root, "a  b\\n* 'c'"),
        second: join(root, "second"),
        link: join(root, "link"),
        given: join(root, "given back"),
        other: join(root, "other"),
      };
      for (const path of Object.values(paths)) {
        if (path !== paths.link) await mkdir(path);
      }
      await writeFile(join(paths.held, "transcript"), "said");
      await writeFile(join(paths.other, "kept"), "");
      // What a held place became a link to, or holds a link to, belongs to somebody else.
      await symlink(paths.other, paths.link);
      await symlink(paths.other, join(paths.held, "inside"));
      const started = runScript(`
      import { createReaper } from ${moduleLiteral("./reaper.ts")};
      const reaper = createReaper();
      const paths = ${JSON.stringify(paths)};
      for (const name of ["given", "held", "second", "link"]) reaper.addDir(paths[name]);
      // Neither of these is one line that means the same for the helper.
      reaper.addDir(${JSON.stringify(root)} + "\\n" + paths.other);
      reaper.addDir("other");
      reaper.delDir(paths.given);
      console.log("ready");
      setInterval(() => {}, 1000);
    `);
      await once(started.stdout, "data");
      started.kill("SIGKILL");
      for (const end = performance.now() + 5000; existsSync(paths.link); await delay(20)) {
        assert.ok(performance.now() < end, "the places are still there after 5 s");
      }
      assert.deepEqual(
        Object.values(paths).map((path) => existsSync(path)),
        [false, false, false, true, true],
      );
      assert.ok(existsSync(join(paths.other, "kept")));
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  },
);
