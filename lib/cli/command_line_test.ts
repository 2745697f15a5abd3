import { strict as assert } from "node:assert";
import { test } from "node:test";
import { UsageError } from "../base/errors.ts";
import { parseCommandLine } from "./command_line.ts";
import { FLAGS } from "./flags.ts";

function modeOf(...args: string[]) {
  return parseCommandLine(args).mode;
}

function refusal(...args: string[]): string {
  try {
    parseCommandLine(args);
  } catch (error) {
    assert(error instanceof UsageError, `${error}`);
    assert.equal(error.exit, 2);
    return error.message;
  }
  return assert.fail(`accepted: ${args.join(" ")}`);
}

test("parseCommandLine() takes every flag with one dash and with two", () => {
  for (const flag of FLAGS) {
    const value = flag.name === "completions" ? ["bash"] : flag.argument === undefined ? [] : ["x"];
    // These need their modes.
    const modes: Readonly<Record<string, string[]>> = {
      json: ["--ask", "bob"],
      listen: ["-acp"],
      agent: ["-acp"],
    };
    const rest = modes[flag.name] ?? [];
    const one = parseCommandLine([`-${flag.name}`, ...value, ...rest]);
    const two = parseCommandLine([`--${flag.name}`, ...value, ...rest]);
    assert.deepEqual(one, two, flag.name);
  }
});

test("parseCommandLine() takes a value after a space and after an equals sign", () => {
  for (const args of [["-config", "a.yaml"], ["-config=a.yaml"], ["--config=a.yaml"]]) {
    assert.equal(parseCommandLine(["-line", ...args]).options.config, "a.yaml");
  }
});

test("parseCommandLine() takes a prompt that begins with a dash", () => {
  assert.deepEqual(modeOf("-p", "- make a list"), { kind: "prompt", prompt: "- make a list" });
  assert.deepEqual(modeOf("-p", "-5 + 3"), { kind: "prompt", prompt: "-5 + 3" });
});

test("parseCommandLine() takes a prompt from stdin for -p -", () => {
  assert.deepEqual(modeOf("-p", "-"), { kind: "prompt", prompt: { stdin: true } });
});

test("parseCommandLine() takes a question for --ask, or none for stdin", () => {
  assert.deepEqual(modeOf("--ask", "bob", "why?"), {
    kind: "ask",
    agent: "bob",
    question: "why?",
    withContext: false,
  });
  assert.deepEqual(modeOf("-ask", "bob"), { kind: "ask", agent: "bob", withContext: false });
  assert.deepEqual(modeOf("--ask-with-context", "bob", "-"), {
    kind: "ask",
    agent: "bob",
    withContext: true,
  });
});

test("parseCommandLine() takes flags after the question and a question after --", () => {
  const line = parseCommandLine(["--ask", "bob", "why?", "-json", "-config", "a.yaml"]);
  assert.equal(line.options.json, true);
  assert.equal(line.options.config, "a.yaml");
  assert.deepEqual(modeOf("--ask", "bob", "--", "-line"), {
    kind: "ask",
    agent: "bob",
    question: "-line",
    withContext: false,
  });
});

test("parseCommandLine() without a mode means the window", () => {
  assert.deepEqual(modeOf(), { kind: "window" });
  assert.deepEqual(modeOf("-config", "a.yaml"), { kind: "window" });
});

test("parseCommandLine() gives help wherever it is asked for", () => {
  for (
    const args of [["-help"], ["--help"], ["-h"], ["-line", "-help"], ["--ask", "--help"], [
      "--ask",
      "bob",
      "-acp",
      "-h",
    ]]
  ) {
    assert.equal(modeOf(...args).kind, "help", args.join(" "));
  }
});

test("parseCommandLine() does not read flags after --", () => {
  assert.match(refusal("--", "-help"), /Unexpected argument "-help"/u);
});

test("parseCommandLine() names the nearest flag for an unknown one", () => {
  assert.equal(refusal("-lin"), 'Unknown flag "-lin"; did you mean "-line"?');
  assert.equal(refusal("--assk", "bob"), 'Unknown flag "--assk"; did you mean "--ask"?');
  assert.match(refusal("-zzzzzzzz"), /Unknown flag "-zzzzzzzz"; mm -help lists the flags/u);
});

test("parseCommandLine() refuses names of the object prototype as unknown flags", () => {
  for (const name of ["constructor", "__proto__", "toString"]) {
    assert.match(refusal(`-${name}`), /^Unknown flag/u);
  }
});

test("parseCommandLine() takes the name of a subagent with -acp only", () => {
  const { mode, options } = parseCommandLine(["-acp", "-agent", "explore", "-defaults"]);
  assert.equal(mode.kind, "acp");
  assert.equal(options.agent, "explore");
  assert.equal(options.defaults, true);
  const wrong: [string[], RegExp][] = [
    [["-agent", "explore"], /^-agent goes with -acp only$/u],
    [["-line", "-agent", "explore"], /^-agent goes with -acp only$/u],
    [["-p", "x", "-agent", "explore"], /^-agent goes with -acp only$/u],
    [["-acp", "-agent"], /-agent needs a value: -agent <name>/u],
    [["-acp", "-agent", ""], /The <name> of -agent is empty/u],
    [["-acp", "-agent", "x", "-listen", ":1"], /Cannot use -agent and -listen together/u],
  ];
  for (const [args, message] of wrong) assert.match(refusal(...args), message, args.join(" "));
});

test("parseCommandLine() refuses -defaults beside a file, and where no configuration is used", () => {
  assert.equal(parseCommandLine(["-line"]).options.defaults, false);
  assert.match(
    refusal("-line", "-defaults", "-config", "a.yaml"),
    /-config and -defaults together/u,
  );
  assert.match(refusal("-init", "-defaults"), /-defaults has no meaning with -init/u);
});

test("parseCommandLine() reads which saved conversation is meant", () => {
  const saved = (...args: string[]) => parseCommandLine(args).options.saved;
  assert.equal(saved("-line"), undefined);
  assert.deepEqual(saved("-line", "-resume"), { kind: "list" });
  assert.deepEqual(saved("-resume", "-line"), { kind: "list" });
  assert.deepEqual(saved("-line", "--resume", "3f2a"), { kind: "named", beginning: "3f2a" });
  assert.deepEqual(saved("-resume=3f2a", "-p", "go on"), { kind: "named", beginning: "3f2a" });
  assert.deepEqual(saved("-p", "go on", "-continue"), { kind: "last" });
  const wrong: [string[], RegExp][] = [
    [["-line", "-resume", "-continue"], /-resume and -continue together/],
    [["-p", "x", "-resume"], /-resume needs an id with -p/],
    [["-acp", "-continue"], /-continue has no meaning with -acp/],
    [["--ask", "bob", "-resume", "x"], /-resume has no meaning with --ask/],
    [["-line", "-resume", "a", "b"], /Unexpected argument "b"/],
  ];
  for (const [args, message] of wrong) assert.throws(() => parseCommandLine(args), message);
});

test("parseCommandLine() refuses two modes at once", () => {
  assert.match(refusal("-line", "-acp"), /Cannot use -line and -acp together/u);
  assert.match(refusal("--ask", "bob", "-p", "x"), /Cannot use -p and --ask together/u);
});

test("parseCommandLine() refuses -json without --ask", () => {
  assert.match(refusal("-p", "x", "-json"), /-json goes with --ask/u);
});

test("parseCommandLine() knows what -v of other programs is here", () => {
  assert.match(refusal("-v"), /^Unknown flag "-v"; mm has -version and -verbose$/u);
  assert.match(refusal("-V"), /^Unknown flag "-V"; mm has -version and -verbose$/u);
});

test("parseCommandLine() refuses stray words", () => {
  assert.match(refusal("-line", "hello"), /Unexpected argument "hello" for -line/u);
  assert.match(refusal("help"), /Unexpected argument "help"; did you mean "-help"\?$/u);
  assert.match(refusal("version"), /; did you mean "-version"\?$/u);
  assert.match(refusal("-p", "a", "help"), /put the whole prompt in quotes/u);
  assert.match(refusal("hello"), /Unexpected argument "hello"; a prompt is given with -p/u);
  assert.match(refusal("-p", "two", "words"), /put the whole prompt in quotes/u);
  assert.match(refusal("--ask", "bob", "two", "words"), /put the question in quotes/u);
});

test("parseCommandLine() refuses missing and empty values", () => {
  assert.match(refusal("--ask"), /--ask needs a value: --ask <agent>/u);
  assert.match(refusal("-config", "-line"), /-config needs a value/u);
  assert.match(refusal("-p", ""), /The prompt for -p is empty/u);
  assert.match(refusal("-p", "  \n"), /The prompt for -p is empty/u);
  assert.match(refusal("--ask", "bob", " "), /The question for --ask is empty/u);
  assert.match(refusal("--ask", ""), /The <agent> of --ask is empty/u);
  assert.match(refusal("-config="), /The <file> of -config is empty/u);
});

test("parseCommandLine() refuses a value for a flag that takes none", () => {
  assert.match(refusal("-yolo=false"), /-yolo takes no value, but "false" is given/u);
});

test("parseCommandLine() refuses a flag given twice", () => {
  assert.match(refusal("-line", "-model", "a", "-model", "b"), /-model is given twice/u);
});

test("parseCommandLine() refuses an unknown shell and flags beside -version", () => {
  assert.match(refusal("-completions", "tcsh"), /Unknown shell "tcsh"/u);
  assert.match(
    refusal("--ask", "bob", "-model", "m", "q"),
    /^-model has no meaning with --ask: an asked agent has the model of its own configuration$/u,
  );
  assert.match(refusal("-version", "-yolo"), /-yolo has no meaning with -version/u);
  assert.match(refusal("-init", "-config", "a"), /-config has no meaning with -init/u);
  assert.match(refusal("-demo", "-cwd", "a"), /-cwd has no meaning with -demo/u);
});
