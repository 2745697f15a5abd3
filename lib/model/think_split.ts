/**
 * Telling thought from answer where a model writes both into its text.
 *
 * @module
 */

/** Takes the text of an answer piece by piece. */
export interface ThinkSplitter {
  /** Takes the next piece of text. */
  push(text: string): void;
  /** Says that the text is over; what was held back is passed on. */
  end(): void;
}

/** Where the two go. */
export interface ThinkSplitterOptions {
  readonly onText: (text: string) => void;
  readonly onThought: (text: string) => void;
}

const TAGS: Readonly<Record<string, string>> = {
  "<think>": "</think>",
  "<thinking>": "</thinking>",
  "<thought>": "</thought>",
  "[THINK]": "[/THINK]",
};

const OPENING = Object.keys(TAGS);

/**
 * Creates a splitter: a `<think>` block that opens an answer is thought, all else is text. Such tags
 * later in a text are text, since answers may speak of them.
 */
export function createThinkSplitter(options: ThinkSplitterOptions): ThinkSplitter {
  let state: "start" | "thought" | "after" | "text" = "start";
  let held = "";
  let closing = "";
  let fresh = false;

  return {
    push(text) {
      if (state === "text") return options.onText(text);
      held += text;
      advance();
    },
    end() {
      const rest = held;
      held = "";
      if (rest === "") return;
      if (state === "thought") options.onThought(rest);
      else if (state === "start") options.onText(rest);
    },
  };

  function advance(): void {
    if (state === "start") readStart();
    if (state === "thought") readThought();
    if (state === "after") readAfter();
  }

  function readStart(): void {
    const begun = held.trimStart();
    if (begun === "") return;
    const tag = OPENING.find((candidate) => begun.startsWith(candidate));
    if (tag !== undefined) {
      closing = TAGS[tag] ?? "";
      held = begun.slice(tag.length);
      state = "thought";
      fresh = true;
    } else if (!OPENING.some((candidate) => candidate.startsWith(begun))) {
      passText();
    }
  }

  function readThought(): void {
    if (fresh) {
      held = held.trimStart();
      if (held === "") return;
      fresh = false;
    }
    const end = held.indexOf(closing);
    if (end >= 0) {
      const last = held.slice(0, end);
      held = held.slice(end + closing.length);
      state = "after";
      if (last !== "") options.onThought(last);
      return;
    }
    const keep = overlap(held, closing);
    const ready = held.slice(0, held.length - keep);
    held = held.slice(held.length - keep);
    if (ready !== "") options.onThought(ready);
  }

  /** The blank lines between thought and answer belong to neither. */
  function readAfter(): void {
    held = held.trimStart();
    if (held !== "") passText();
  }

  function passText(): void {
    const text = held;
    held = "";
    state = "text";
    options.onText(text);
  }
}

/** Returns how many characters at the end of `text` may be the beginning of `tag`. */
function overlap(text: string, tag: string): number {
  for (let n = Math.min(text.length, tag.length - 1); n > 0; n--) {
    if (text.endsWith(tag.slice(0, n))) return n;
  }
  return 0;
}
