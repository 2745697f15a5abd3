/** Who decides about the calls of subagents, and what a person sees of the question. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AcpEditor, PermissionRequest } from "./support/acp_editor.ts";
import { bash, delegate } from "./support/agents.ts";
import { inOrder, type ModelServer, onUser } from "./support/model_server.ts";
import { oneAgent } from "./support/one_agent.ts";
import { withProject } from "./support/project.ts";
import {
  forParent,
  forSubagent,
  isSubagent,
  lastResults,
  taskIds,
  taskOf,
} from "./support/subagents.ts";

const INLINE = { run_in_background: false };

/** Every subagent runs the command that it is told, once, and says what came of it. */
const runsItsTask = forSubagent((request) =>
  request.last.role === "user"
    ? { toolCalls: [bash(taskOf(request))] }
    : { text: `I was told: ${request.last.text}` }
);

const OTHER = "---\nname: other\ndescription: Does it too\n---\nYou do all of it.\n";

/** Whether a question is about the tool `agent` itself. */
const isLaunch = (question: PermissionRequest) =>
  question.toolCall.rawInput?.description !== undefined;

const commandsAsked = (editor: AcpEditor) =>
  editor.permissions.filter((question) => !isLaunch(question))
    .map((question) => question.toolCall.rawInput?.command);

/** The last request of the agent that starts the subagents. */
const lastOfParent = (server: ModelServer) =>
  server.requests.findLast((request) => !isSubagent(request))!;

const results = (server: ModelServer) => lastResults(lastOfParent(server));

test("the yolo of the agent that starts it decides about a subagent's calls, whatever its definition says", () =>
  withProject(async (p) => {
    const modes = {
      ".claude/agents/accepts.md": "permissionMode: acceptEdits",
      ".claude/agents/bypasses.md": "permissionMode: bypassPermissions",
      ".claude/agents/plans.md": "permissionMode: plan",
      ".qwen/agents/dares.md": "approvalMode: yolo",
      ".mm/agents/plain.md": "maxTurns: 5",
    };
    const names = Object.keys(modes).map((path) => path.replace(/.*\/|\.md/gu, ""));
    for (const [path, mode] of Object.entries(modes)) {
      const name = path.replace(/.*\/|\.md/gu, "");
      await p.write(
        path,
        `---\nname: ${name}\ndescription: Does it\n${mode}\n---\nYou do it all.\n`,
      );
    }
    const all = (what: string) => ({
      toolCalls: names.map((name) =>
        delegate(`touch ${name}-${what}`, { subagent_type: name, ...INLINE })
      ),
    });
    const server = await oneAgent(p, [
      runsItsTask,
      inOrder(all("asked"), { text: "Done." }, all("yolo"), { text: "Done." }),
    ], { agents: { maxParallel: 5 } });
    const editor = p.editor();
    editor.onPermission = (question) =>
      question.choose(isLaunch(question) ? "allow_once" : "reject_once");
    const session = await editor.start();
    await editor.prompt(session, "Go");
    const asking = names.filter((name) => name !== "plans");
    assert.deepEqual(commandsAsked(editor).sort(), asking.map((name) => `touch ${name}-asked`));
    for (const name of names) assert.ok(!p.exists(`${name}-asked`), name);
    const told = Object.fromEntries(results(server).map((text, at) => [names[at], text]));
    for (const name of asking) {
      assert.match(told[name] ?? "", /told: Not run: the user rejected this call of bash\./u, name);
    }
    // Who plans has no command at all.
    assert.match(told["plans"] ?? "", /told: There is no tool "bash"/u);

    await editor.prompt(session, "/yolo on");
    await editor.prompt(session, "Again");
    assert.equal(commandsAsked(editor).length, asking.length);
    for (const name of names) assert.equal(p.exists(`${name}-yolo`), name !== "plans", name);
  }));

test("nobody is there: a subagent's call is refused at once, in the background too, and its model reads why", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, [
      runsItsTask,
      inOrder(
        { toolCalls: [delegate("touch one", INLINE), delegate("touch two")] },
        { toolCalls: [{ name: "wait_agent", arguments: {} }] },
        { text: "Done." },
      ),
    ], { permissions: { allow: ["agent"] } });
    const { stdout, stderr } = await p.runMm(["-p", "Go"]);
    assert.equal(stdout, "Done.\n", stderr);
    const why =
      /told: Not run: nobody is there to answer a permission question: use -yolo, or allow the call with permissions\.allow in the configuration\. Do not try it again in another way/u;
    const [inline] = lastResults(server.requests.find((r) => r.last.text.startsWith("Started"))!);
    assert.match(inline ?? "", why);
    assert.match(results(server)[0] ?? "", why);
    assert.ok(!p.exists("one") && !p.exists("two"));
  }));

test("a rule that asks holds for subagents under yolo too: a person is asked, and nobody there means no", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, [
      runsItsTask,
      inOrder({
        toolCalls: ["touch one", "echo two"].map((task) => delegate(task, INLINE)),
      }, { text: "Done." }),
    ], { yolo: true, permissions: { ask: ["bash(touch *)"] } });
    const { stdout, stderr } = await p.runMm(["-p", "Go"]);
    assert.equal(stdout, "Done.\n", stderr);
    const [asking, free] = results(server);
    assert.match(
      asking ?? "",
      /told: Not run: a rule of permissions\.ask that general-purpose has wants a person, and nobody is there/u,
    );
    assert.doesNotMatch(asking ?? "", /use -yolo/u);
    assert.match(free ?? "", /told: two/u);
    assert.ok(!p.exists("one"));

    const again = await oneAgent(p, [
      runsItsTask,
      inOrder({
        toolCalls: ["touch one", "touch two"].map((task) => delegate(task, INLINE)),
      }, { text: "Done." }),
    ], { yolo: true, permissions: { ask: ["bash(touch *)"] }, agents: { maxParallel: 1 } });
    const editor = p.editor();
    editor.onPermission = (question) => question.choose("allow_always");
    await editor.prompt(await editor.start(), "Go");
    assert.deepEqual(commandsAsked(editor).sort(), ["touch one", "touch two"]);
    assert.ok(p.exists("one") && p.exists("two"), results(again).join("\n"));
  }));

test("rules name a subagent as they name an asked agent: they permit and deny its calls and no others", () =>
  withProject(async (p) => {
    await p.write(".mm/agents/other.md", OTHER);
    const server = await oneAgent(p, [
      runsItsTask,
      inOrder({
        toolCalls: [
          delegate("touch allowed", INLINE),
          delegate("touch denied", INLINE),
          delegate("touch others", { subagent_type: "other", ...INLINE }),
          bash("touch mine"),
        ],
      }, { text: "Done." }),
    ], {
      permissions: {
        allow: ["agent", "general-purpose/bash(touch *)"],
        deny: ["general-purpose/bash(touch denied)"],
      },
    });
    const { stdout, stderr } = await p.runMm(["-p", "Go"]);
    assert.equal(stdout, "Done.\n", stderr);
    assert.ok(p.exists("allowed"));
    for (const name of ["denied", "others", "mine"]) assert.ok(!p.exists(name), name);
    const [, denied] = results(server);
    assert.match(
      denied ?? "",
      /told: Not run: the rule "general-purpose\/bash\(touch denied\)" denies/u,
    );
  }));

test("a rule that denies a subagent what needs no leave holds in it, and in nobody else", () =>
  withProject(async (p) => {
    await p.write("a.txt", "what stands there");
    const read = { toolCalls: [{ name: "read", arguments: { path: "a.txt" } }] };
    const server = await oneAgent(p, [
      forSubagent((request) =>
        request.last.role === "user" ? read : { text: `I was told: ${request.last.text}` }
      ),
      inOrder({
        toolCalls: ["explore", "general-purpose"].map((type) =>
          delegate("Read it", { subagent_type: type, ...INLINE })
        ),
      }, { text: "Done." }),
    ], { yolo: true, permissions: { deny: ["expl*/read"] } });
    const { stdout, stderr } = await p.runMm(["-p", "Go"]);
    assert.equal(stdout, "Done.\n", stderr);
    const [explore, general] = results(server);
    assert.match(explore ?? "", /told: Not run: the rule "expl\*\/read" denies read/u);
    assert.match(general ?? "", /what stands there/u);
  }));

test("a question of a subagent shows the real command, of a run that is waited for and in the background", () =>
  withProject(async (p) => {
    const command = "touch 'a b' && echo \"$HOME\"";
    await oneAgent(p, [
      runsItsTask,
      inOrder(
        { toolCalls: [delegate(command, INLINE)] },
        { toolCalls: [delegate(command)] },
        { toolCalls: [{ name: "wait_agent", arguments: {} }] },
        { text: "Done." },
      ),
    ]);
    const editor = p.editor();
    editor.onPermission = (question) => {
      if (isLaunch(question)) question.choose("allow_once");
    };
    const session = await editor.start();
    const turn = editor.prompt(session, "Go");
    for (const _ of ["waited for", "in the background"]) {
      const question = await editor.waitForPermission((one) => !isLaunch(one));
      assert.match(question.toolCall.title, /general-purpose\/bash/u);
      assert.ok(question.toolCall.title.includes(command), question.toolCall.title);
      assert.deepEqual(question.toolCall.rawInput, { command });
      assert.equal(question.sessionId, session);
      question.choose("reject_once");
    }
    await turn;
    const launches = editor.permissions.filter(isLaunch);
    assert.deepEqual(launches.map((one) => one.toolCall.rawInput.prompt), [command, command]);
  }));

test("in a terminal a subagent's question shows who asks and the whole command", () =>
  withProject(async (p) => {
    await oneAgent(p, [
      runsItsTask,
      inOrder({ toolCalls: [delegate("touch it", INLINE)] }, { text: "Done." }),
    ], { permissions: { allow: ["agent"] } });
    const mm = p.mm(["-line"]);
    mm.writeLine("Go");
    const { end } = await mm.waitForOutput(/🔐.*general-purpose\/bash[^]*touch it/u);
    mm.writeLine("y");
    await mm.waitForOutput("Done.", { from: end });
    assert.ok(p.exists("it"));
  }));

test("leave for the session answers the questions of the same subagent that wait, and no others", () =>
  withProject(async (p) => {
    await p.write(".mm/agents/other.md", OTHER);
    const server = await oneAgent(p, [
      runsItsTask,
      inOrder(
        {
          toolCalls: [
            delegate("touch one"),
            delegate("touch two"),
            delegate("touch three", { subagent_type: "other" }),
          ],
        },
        { toolCalls: [{ name: "wait_agent", arguments: {} }] },
        { text: "Done." },
      ),
    ], { permissions: { allow: ["agent"] }, agents: { maxParallel: 3 } });
    const editor = p.editor();
    const session = await editor.start();
    const turn = editor.prompt(session, "Go");
    const asked: string[] = [];
    editor.onPermission = (question) => {
      asked.push(question.toolCall.title.split(" ")[0]);
      question.choose(question.toolCall.title.includes("other/") ? "reject_once" : "allow_always");
    };
    await turn;
    assert.deepEqual(asked.sort(), ["general-purpose/bash:", "other/bash:"]);
    assert.ok(p.exists("one") && p.exists("two"));
    assert.ok(!p.exists("three"));
    assert.match(results(server)[0] ?? "", /I was told: Not run: the user rejected this call/u);
  }));

test("a question that is open when its run is stopped is withdrawn, and a late yes changes nothing", () =>
  withProject(async (p) => {
    const shown = Promise.withResolvers<void>();
    // A question comes while a prompt is under way, so this one goes on until it has.
    const asked = Promise.withResolvers<void>();
    const server = await oneAgent(p, [
      runsItsTask,
      onUser("Go", { toolCalls: [delegate("touch one"), delegate("touch two")] }),
      onUser("hold", { text: "Held.", holdUntil: shown.promise }),
      forParent((request) =>
        request.last.role === "tool"
          ? { text: "They are at work." }
          : { text: "Seen.", holdUntil: asked.promise }
      ),
    ], { permissions: { allow: ["agent"] }, agents: { maxParallel: 2 } });
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "Go");
    // The first is asked about while a prompt is under way, the second waits for its turn.
    const prompt = editor.prompt(session, "hold");
    const question = await editor.waitForPermission();
    shown.resolve();
    await prompt;
    const ids = taskIds(lastOfParent(server));
    const first = question.toolCall.rawInput.command === "touch one" ? 0 : 1;
    const end = (id: string | undefined) => new RegExp(`id="${id}"[^>]* status="cancelled"`, "u");
    await editor.prompt(session, `/tasks stop ${ids[first]}`);
    question.choose("allow_once");
    const next = editor.waitForPermission();
    void next.then(() => asked.resolve());
    await editor.prompt(session, "And now?");
    assert.match(lastOfParent(server).lastUser, end(ids[first]));
    const { toolCall } = await next;
    assert.equal(toolCall.rawInput.command, first === 0 ? "touch two" : "touch one");
    await editor.prompt(session, `/tasks stop ${ids[1 - first]}`);
    await editor.prompt(session, "And now?");
    assert.match(lastOfParent(server).lastUser, end(ids[1 - first]));
    assert.ok(!p.exists("one") && !p.exists("two"));
  }));
