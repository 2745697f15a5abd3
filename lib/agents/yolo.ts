/**
 * Whose yolo decides about an asked agent's calls: one rule, and the table that says what comes of it.
 *
 * @module
 */

/** What decides whether an asked agent's gated calls run without a question. */
export interface AgentYolo {
  /** Whether the asking agent was itself asked. */
  readonly asked: boolean;
  /** The asking agent's own yolo, as it counts in its process. */
  readonly own: boolean;
  /** The `yolo` of the asked agent's entry in the asking agent's file. */
  readonly entry: boolean | undefined;
}

/**
 * Whether an asked agent's gated calls run without a question. Its entry decides, else the asking
 * agent's own yolo; but an agent that was itself asked can only restrict, for whoever asked it holds
 * the permission. The asked agent's own file has no say.
 */
export function callsRun({ asked, own, entry }: AgentYolo): boolean {
  return asked ? own && entry !== false : entry ?? own;
}

/** Everything that could be thought to decide about the calls of bob, whom you ask. */
export interface YoloFacts {
  /** Whether you, the asking agent, were yourself asked. */
  readonly asked: boolean;
  /** Whether your mm was started with `-yolo`. */
  readonly flag: boolean;
  /** `AGENT_YOLO` in your environment. */
  readonly environment: boolean | undefined;
  /** `yolo` in your file. */
  readonly file: boolean | undefined;
  /** `yolo` of bob's entry in your file. */
  readonly entry: boolean | undefined;
  /** `yolo` in bob's own file, and of riker's entry in it. */
  readonly bobsFile: boolean | undefined;
  /** Who would be asked: a person at a front end, or nobody, for `mm --ask` in a script. */
  readonly frontEnd: "person" | "script";
}

/** What becomes of a gated call of bob's, or of riker's, whom bob asks. */
export type YoloOutcome = "runs" | "asks" | "refused";

/** Returns what becomes of a gated call of bob's; riker's calls fare the same. */
export function yoloOutcome(facts: YoloFacts): YoloOutcome {
  const { asked, flag, environment, file, entry, frontEnd } = facts;
  const own = !asked && (flag || (environment ?? file ?? false));
  if (callsRun({ asked, own, entry })) return "runs";
  return frontEnd === "script" ? "refused" : "asks";
}

/** A row of {@linkcode YOLO_TABLE}: what is absent may be anything. */
export interface YoloRow extends Partial<YoloFacts> {
  readonly outcome: YoloOutcome;
}

/**
 * The rule as a table: the first row that fits counts, and one fits always. The reference shows it, and
 * the tests go through it. No row asks for `bobsFile`: it never counts.
 */
export const YOLO_TABLE: readonly YoloRow[] = [
  { asked: true, frontEnd: "person", outcome: "asks" },
  { asked: true, frontEnd: "script", outcome: "refused" },
  { entry: true, outcome: "runs" },
  { entry: false, frontEnd: "person", outcome: "asks" },
  { entry: false, frontEnd: "script", outcome: "refused" },
  { flag: true, outcome: "runs" },
  { environment: true, outcome: "runs" },
  { environment: false, frontEnd: "person", outcome: "asks" },
  { environment: false, frontEnd: "script", outcome: "refused" },
  { file: true, outcome: "runs" },
  { frontEnd: "person", outcome: "asks" },
  { frontEnd: "script", outcome: "refused" },
];

/** Whether a row is for some facts. */
export function rowFits(row: YoloRow, facts: YoloFacts): boolean {
  const { outcome: _, ...wanted } = row;
  return Object.entries(wanted).every(([name, value]) => facts[name as keyof YoloFacts] === value);
}

const OUTCOME_WORDS: Record<YoloOutcome, string> = {
  runs: "run",
  asks: "ask",
  refused: "are refused, with the reason",
};

/** Returns the table as the reference shows it, in Markdown. */
export function yoloTableText(): string {
  const header = [
    "you were yourself asked",
    "bob's entry in your file",
    "`-yolo`",
    "`AGENT_YOLO`",
    "`yolo` in your file",
    "bob's file",
    "you are",
    "bob's calls, and riker's",
  ];
  const word = (value: boolean | undefined) => value === undefined ? "any" : `\`${value}\``;
  const given = (value: boolean | undefined) => value === undefined ? "any" : value ? "yes" : "no";
  const rows = YOLO_TABLE.map((row) => [
    given(row.asked),
    word(row.entry),
    given(row.flag),
    word(row.environment),
    word(row.file),
    word(row.bobsFile),
    row.frontEnd === undefined ? "any" : row.frontEnd === "person" ? "at a front end" : "a script",
    OUTCOME_WORDS[row.outcome],
  ]);
  const all = [header, ...rows];
  const widths = header.map((_, at) => Math.max(...all.map((cells) => cells[at]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  return [line(header), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)]
    .join("\n");
}
