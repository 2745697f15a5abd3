/**
 * Pasted text as one piece: a terminal with bracketed paste marks where it begins and ends.
 *
 * @module
 */
import { safeText } from "./safe_text.ts";

const BEGIN = "\x1b[200~";
const END = "\x1b[201~";

/** Tells a terminal to mark pasted text, and to stop doing so. */
export const PASTE_ON = "\x1b[?2004h";
export const PASTE_OFF = "\x1b[?2004l";

/** Stand for the line ends and tabs of pasted text while the line is edited. */
const SHOWN_LINE_END = "␤";
const SHOWN_TAB = "␉";

/** Folds pasted text into the line that is being typed. */
export interface PasteFolder {
  /** Takes what the terminal sent and returns what the line editor gets. */
  push(keys: string): string;
  /** Returns a typed line with the line ends and tabs of what was pasted into it. */
  unfold(line: string): string;
}

/** Creates a folder. A line end at the end of pasted text is dropped: Enter sends the line. */
export function createPasteFolder(): PasteFolder {
  let held = "";
  let pasted: string | undefined;
  let folded = false;

  function fold(text: string): string {
    folded = true;
    return safeText(text).replace(/\n+$/u, "").replaceAll("\n", SHOWN_LINE_END)
      .replaceAll("\t", SHOWN_TAB);
  }

  return {
    push(keys) {
      let rest = held + keys;
      held = "";
      let out = "";
      for (;;) {
        const mark = pasted === undefined ? BEGIN : END;
        const at = rest.indexOf(mark);
        if (at < 0) {
          // A mark may come in two pieces, but a lone escape is a key and must not wait.
          const cut = partialMark(rest, mark);
          held = rest.slice(cut);
          const sure = rest.slice(0, cut);
          if (pasted === undefined) return out + sure;
          pasted += sure;
          return out;
        }
        const sure = rest.slice(0, at);
        rest = rest.slice(at + mark.length);
        if (pasted === undefined) {
          out += sure;
          pasted = "";
        } else {
          out += fold(pasted + sure);
          pasted = undefined;
        }
      }
    },
    unfold(line) {
      // From the first paste on the marks count, also in lines recalled from the history.
      if (!folded) return line;
      return line.replaceAll(SHOWN_LINE_END, "\n").replaceAll(SHOWN_TAB, "\t");
    },
  };
}

/** Returns where a beginning of `mark` stands at the end of `text`, at least three characters. */
function partialMark(text: string, mark: string): number {
  for (let length = mark.length - 1; length >= 3; length--) {
    if (text.endsWith(mark.slice(0, length))) return text.length - length;
  }
  return text.length;
}
