/**
 * The examples of the manual of Qwen Code's tool of the same name, run with mm as they are written there:
 * the calls word for word, the definitions and profiles in the folders that it names.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  endsIn,
  lastResults,
  ofFork,
  ofSubagent,
  runCalls,
  textsOf,
  withStage,
} from "./support/agent_stage.ts";
import { bash } from "./support/agents.ts";
import { mcpServer } from "./support/mcp_server.ts";
import {
  inOrder,
  type RecordedRequest,
  type ReplySource,
  type Rule,
} from "./support/model_server.ts";
import { oneAgent } from "./support/one_agent.ts";
import { type TestProject, withProject } from "./support/project.ts";

const { wait } = runCalls;

/** A call of the tool with exactly these arguments. */
const agent = (args: Readonly<Record<string, unknown>>) => ({ name: "agent", arguments: args });

/** A call of another tool of mm. */
const call = (name: string, args: Readonly<Record<string, unknown>>) => ({ name, arguments: args });

const REFACTOR = {
  description: "Refactorisation du code",
  prompt:
    "Veuillez refactoriser le module d'authentification dans src/auth/ pour utiliser les patterns modernes async/await au lieu des callbacks. Assurez-vous que tous les tests passent toujours et mettez à jour la documentation associée.",
  subagent_type: "general-purpose",
};

const REVIEW = {
  description: "Revue de code",
  prompt:
    "Examinez les modifications récentes du module de gestion des utilisateurs pour la qualité du code, les problèmes de sécurité et la conformité aux bonnes pratiques.",
  subagent_type: "general-purpose",
};

const TESTS = {
  description: "Exécuter les tests",
  prompt:
    "Exécutez la suite de tests complète et analysez les échecs éventuels. Fournissez un résumé de la couverture de test et des recommandations d'amélioration.",
  subagent_type: "test-engineer",
};

const DOCUMENT = {
  description: "Mise à jour de la documentation",
  prompt:
    "Générez une documentation d'API complète pour les nouveaux points de terminaison REST implémentés dans le module des commandes. Incluez des exemples de requêtes/réponses et les codes d'erreur.",
  subagent_type: "general-purpose",
};

/** Rules for the subagent with a task: its answers in order, whatever came of its calls. */
const works = (task: string, ...replies: readonly ReplySource[]): Rule => {
  const next = inOrder(...replies);
  return (request) => isTask(request, task) ? next(request) : undefined;
};

/** Whether a request is that of a subagent, or a fork, with a task. */
function isTask(request: RecordedRequest, task: string): boolean {
  return ofSubagent(request) &&
    textsOf(request).some((text) => text === task || text.includes(`Task:\n${task}`));
}

/** Runs `mm -p` with a model that makes these calls, waits, and ends with "Fini." */
async function delegates(
  p: TestProject,
  calls: readonly ReturnType<typeof agent>[],
  rules: readonly Rule[],
) {
  const server = await oneAgent(p, [
    ...rules,
    (request) => {
      if (ofSubagent(request)) return undefined;
      if (request.messages.length === 2) return { toolCalls: calls };
      const told = endsIn(textsOf(request).join("\n")).length;
      return { text: told === calls.length ? "Fini." : "J'attends." };
    },
  ], { yolo: true });
  const { stdout, stderr, code } = await p.runMm(["-p", "Déléguez."]);
  assert.deepEqual([code, stdout], [0, "Fini.\n"], stderr);
  const own = server.requests.filter((request) => !ofSubagent(request));
  return { server, ends: endsIn(textsOf(own.at(-1)).join("\n")) };
}

test("a task of several steps goes to the general subagent, which does it in the project", () =>
  withProject(async (p) => {
    await p.write("src/auth/login.js", "exports.login = (name, done) => done(null, name);\n");
    await p.write("src/auth/README.md", "login(name, callback)\n");
    const code = "exports.login = async (name) => name;\n";
    const { server, ends } = await delegates(p, [agent(REFACTOR)], [
      works(
        REFACTOR.prompt,
        { toolCalls: [call("glob", { pattern: "src/auth/**" })] },
        {
          toolCalls: [
            call("read", { path: "src/auth/login.js" }),
            call("read", { path: "src/auth/README.md" }),
          ],
        },
        {
          toolCalls: [
            call("write", { path: "src/auth/login.js", content: code }),
            call("write", { path: "src/auth/README.md", content: "await login(name)\n" }),
            bash("grep -c async src/auth/login.js"),
          ],
        },
        (request) => ({ text: `Refactorisé, ${request.last.text.split("\n")[0]} fichier.` }),
      ),
    ]);
    assert.deepEqual(ends.map(({ status, result }) => [status, result]), [
      ["completed", "Refactorisé, 1 fichier."],
    ]);
    assert.equal(await p.read("src/auth/login.js"), code);
    assert.equal(await p.read("src/auth/README.md"), "await login(name)\n");
    // It knows its task and nothing of the conversation.
    const first = server.requests.find(ofSubagent);
    assert.deepEqual(textsOf(first).slice(1), [REFACTOR.prompt]);
  }));

test("two tasks in one answer are worked on at the same time, by a subagent of the project too", () => {
  const both = Promise.withResolvers<void>();
  let open = 0;
  const times = new Map<string, { readonly from: number; to: number }>();
  /** Notes when a task was asked about, and answered; no answer comes before both were asked. */
  const timed = (prompt: string): Rule => (request) => {
    if (!isTask(request, prompt)) return undefined;
    const time = { from: request.at, to: 0 };
    times.set(prompt, time);
    void request.done.then(() => time.to = performance.now());
    if (++open === 2) both.resolve();
    return { text: `Fait : ${prompt.slice(0, 9)}`, holdUntil: both.promise };
  };
  return withProject(async (p) => {
    await p.write(
      ".qwen/agents/test-engineer.md",
      "---\nname: test-engineer\ndescription: Exécute les tests et analyse les échecs\n" +
        "tools:\n  - read_file\n  - run_shell_command\n---\nVous êtes un ingénieur de test.\n",
    );
    const { server, ends } = await delegates(p, [agent(REVIEW), agent(TESTS)], [
      timed(REVIEW.prompt),
      timed(TESTS.prompt),
    ]);
    assert.deepEqual(ends.map(({ result }) => result).sort(), [
      "Fait : Examinez ",
      "Fait : Exécutez ",
    ]);
    const [review, tests] = [times.get(REVIEW.prompt), times.get(TESTS.prompt)];
    assert.ok(review !== undefined && tests !== undefined);
    assert.ok(review.from < tests.to && tests.from < review.to, JSON.stringify([review, tests]));
    const engineer = server.requests.find((request) => isTask(request, TESTS.prompt));
    assert.match(engineer?.system ?? "", /^Vous êtes un ingénieur de test\.\n/u);
    assert.deepEqual(engineer?.toolNames, ["bash", "read"]);
  });
});

test("documentation is written by the subagent that was told to", () =>
  withProject(async (p) => {
    const text = "# Commandes\n\nPOST /orders\n\n404 : commande inconnue\n";
    const { ends } = await delegates(p, [agent(DOCUMENT)], [
      works(
        DOCUMENT.prompt,
        { toolCalls: [call("write", { path: "docs/api.md", content: text })] },
        { text: "docs/api.md est écrit." },
      ),
    ]);
    assert.deepEqual(ends.map(({ result }) => result), ["docs/api.md est écrit."]);
    assert.equal(await p.read("docs/api.md"), text);
  }));

test("a subagent of any name is called by it, with its short description and its task", () =>
  withProject(async (p) => {
    await p.write(
      ".qwen/agents/agent_name.md",
      "---\nname: agent_name\ndescription: Spécialisé\n---\nVous êtes spécialisé.\n",
    );
    const args = {
      description: "Brève description de la tâche",
      prompt: "Instructions détaillées de la tâche pour le sous-agent",
      subagent_type: "agent_name",
    };
    const { ends } = await delegates(p, [agent(args)], [works(args.prompt, { text: "Fait." })]);
    assert.deepEqual(ends.map(({ result }) => result), ["Fait."]);
  }));

test("a fork of the last three turns knows those and no earlier one", () => {
  const args = {
    description: "Brève description de la tâche",
    prompt: "Instructions détaillées de la tâche pour le fork",
    subagent_type: "fork",
    fork_turns: "3",
  };
  return withStage([works(args.prompt, { text: "Rapport." })], async (stage) => {
    const { editor, session, server } = stage;
    for (const turn of ["un", "deux", "trois", "quatre"]) await editor.prompt(session, turn);
    // A part of the conversation begins with another message than the whole.
    server.allowNewPrefix(4);
    await stage.call(agent(args));
    await stage.call(wait());
    assert.deepEqual(stage.ends.map(({ result }) => result), ["Rapport."]);
    const [fork] = stage.theirs;
    assert.deepEqual(
      fork?.messages.filter(({ role }) => role === "user").map((message) => message.content),
      ["trois", "quatre", "step 1."],
    );
  });
});

test("a fork runs the tools it is given, those of a server among them, and no other", () => {
  const args = {
    description: "Investigation en lecture seule",
    prompt: "Inspecter l'implémentation",
    subagent_type: "fork",
    fork_tools: ["read_file", "grep_search", "mcp__github"],
  };
  return withStage([
    works(args.prompt, {
      toolCalls: [
        call("read", { path: "a.ts" }),
        call("grep", { pattern: "needle" }),
        call("mcp__github__echo", { text: "echoed" }),
        call("write", { path: "a.ts", content: "changed" }),
        bash("touch ran"),
      ],
    }, { text: "Inspecté." }),
  ], async (stage) => {
    const { p } = stage;
    await p.write("a.ts", "const needle = 1;\n");
    await stage.call(agent(args));
    await stage.call(wait());
    assert.deepEqual(stage.ends.map(({ result }) => result), ["Inspecté."]);
    const [read = "", grep = "", echo = "", write = "", ran = ""] = lastResults(stage.theirs[1]);
    assert.match(read, /const needle = 1;/u);
    assert.match(grep, /^a\.ts\n1:const needle/u);
    assert.match(echo, /echoed/u);
    assert.match(write, /this fork may run only read, grep, mcp__github; go on without write/u);
    assert.match(ran, /this fork may run only read, grep, mcp__github; go on without bash/u);
    assert.deepEqual([await p.read("a.ts"), p.exists("ran")], ["const needle = 1;\n", false]);
    // It is told of all the tools its agent has, so that both share what the server keeps.
    const [fork] = stage.theirs;
    assert.deepEqual(fork?.body.tools, stage.own[0]?.body.tools);
  }, { mcpServers: { github: mcpServer() } });
});

test("a fork with a profile runs what the profile allows, and gets its advice", () => {
  const args = {
    description: "Investigation profilée",
    prompt: "Inspecter l'implémentation",
    subagent_type: "fork",
    fork_profile: "ro-research",
  };
  return withStage([
    works(args.prompt, {
      toolCalls: [call("read", { path: "a.ts" }), bash("touch ran")],
    }, { text: "Inspecté." }),
  ], async (stage) => {
    const { p } = stage;
    await p.write("a.ts", "const needle = 1;\n");
    await p.write(
      ".qwen/fork-profiles/ro-research.md",
      "---\nname: ro-research\ntools: [read_file, grep_search]\n" +
        "promptHint: Citez les fichiers & les lignes\n---\n",
    );
    await stage.call(agent(args));
    await stage.call(wait());
    assert.deepEqual(stage.ends.map(({ result }) => result), ["Inspecté."]);
    const [first, second] = stage.theirs;
    assert.ok(first !== undefined && ofFork(first));
    assert.match(first.last.text, /<advice>Citez les fichiers &amp; les lignes<\/advice>/u);
    const [read = "", ran = ""] = lastResults(second);
    assert.match(read, /const needle = 1;/u);
    assert.match(ran, /this fork may run only read, grep; go on without bash/u);
    assert.equal(p.exists("ran"), false);
  });
});
